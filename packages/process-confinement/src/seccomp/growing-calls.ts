import { call, type Denial, type DeniedCall, makesFile } from "./calls.js";

/** What a program is told that has used up its room: mkdir(2), open(2), setxattr(2) and others have it in their lists. */
const EDQUOT = 122;
const full: Denial = { kind: "error", errno: EDQUOT };
/** MAP_SHARED, also as a part of MAP_SHARED_VALIDATE. */
const sharedMap = 1;

/**
 * What is asked of terminals, pipes and sockets (asm-generic/ioctls.h): TCGETS to TCSETAF, TCSBRK, TCXONC, TCFLSH, TIOCEXCL,
 * TIOCNXCL, TIOCSCTTY, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCGWINSZ, TIOCSWINSZ, FIONREAD, FIONBIO, TIOCNOTTY, TIOCGSID, TCGETS2
 * to TCSETSF2, TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER, FIONCLEX, FIOCLEX, FIOASYNC. All others are of files, where each file system
 * has its own ways to take room, or of devices that are not there.
 */
const harmlessRequests = [
  ...[0x5401, 0x5402, 0x5403, 0x5404, 0x5405, 0x5406, 0x5407, 0x5408, 0x5409, 0x540a, 0x540b, 0x540c, 0x540d, 0x540e],
  ...[0x540f, 0x5410, 0x5411, 0x5413, 0x5414, 0x541b, 0x5421, 0x5422, 0x5429],
  ...[0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d, 0x80045430, 0x40045431, 0x5441, 0x5450, 0x5451, 0x5452],
];

/**
 * What makes a file system hold more without a write, which RLIMIT_FSIZE would refuse: entries, and with them the blocks of
 * folders, which stay; attributes; pages of holes, filled through shared memory. Numbers as in `deniedCalls`.
 */
export const growingCalls: readonly DeniedCall[] = [
  call("open", 2, undefined, { kind: "bits", argument: 1, mask: makesFile, errno: EDQUOT }),
  call("openat", 257, 56, { kind: "bits", argument: 2, mask: makesFile, errno: EDQUOT }),
  call("creat", 85, undefined, full),
  call("mkdir", 83, undefined, full),
  call("mkdirat", 258, 34, full),
  call("mknod", 133, undefined, full),
  call("mknodat", 259, 33, full),
  call("symlink", 88, undefined, full),
  call("symlinkat", 266, 36, full),
  call("link", 86, undefined, full),
  call("linkat", 265, 37, full),
  // To a longer name, or into another folder.
  call("rename", 82, undefined, full),
  call("renameat", 264, 38, full),
  call("renameat2", 316, 276, full),
  // A unix socket's path is an entry.
  call("bind", 49, 200, full),
  call("setxattr", 188, 5, full),
  call("lsetxattr", 189, 6, full),
  call("fsetxattr", 190, 7, full),
  call("setxattrat", 463, 463, full),
  // Files with the same attributes share their blocks (ext4) until one of them loses some.
  call("removexattr", 197, 14, full),
  call("lremovexattr", 198, 15, full),
  call("fremovexattr", 199, 16, full),
  call("removexattrat", 466, 466, full),
  // FS_IOC_FSSETXATTR by another name.
  call("file_setattr", 469, 469, full),
  call("mmap", 9, 222, { kind: "bits", argument: 3, mask: sharedMap, errno: EDQUOT }),
  call("ioctl", 16, 29, { kind: "others", argument: 1, values: harmlessRequests, errno: EDQUOT }),
];
