/**
 * The supervisor: the parent of every command. In a pid namespace it is process 1, so that the command never is.
 * It is Perl because Debian's essential `perl-base` is enough, it starts in two milliseconds, can make system calls, and
 * unlike a shell passes on any environment and any argv[0], names the errno of a failed exec, and shows neither arguments
 * nor secrets in `ps`. It makes the namespace itself: util-linux's `unshare` would stay as a parent that holds the command's
 * pipes, so that their end is never seen.
 *
 * Arguments: the numbers of the system calls prctl, unshare, mount and execve (0: unknown, then nothing that left the group
 * is adopted), and the flags for unshare (0: no namespace).
 *
 * Descriptor 3 is the control channel, a socket pair. From the host: the launch record (launch-record.ts), then lines:
 *   go            run the command; before, nothing of it runs
 *   TERM          end the command's group, and once the command is gone what it left behind, with that signal
 *   KILL, or the end of the channel, when the host is dead: end everything
 * To the host: `ready PID NAMESPACE COMMANDPID`, `started`, `failed ERRNO`, `exited CODE SIGNAL`. It exits with 0 when it saw
 * the last process go.
 *
 * The command leads a process group of its own. A group is signalled only while one of its members is an unreaped child of
 * ours, which keeps its number from being used again; other processes only while they are unreaped children.
 */
export const perlSupervisor = `
my ($prctl, $unshare, $mount, $execve, $flags) = map { $_ + 0 } @ARGV;
$prctl = $execve = $flags = 0 if length pack('p', '') != 8;
open my $c, '+<&=', 3 or exit 125;
fcntl $c, 2, 1;
if (opendir my $d, -d '/proc/self/fd' ? '/proc/self/fd' : '/dev/fd') {
  my @left = grep { /^\\d+$/ && $_ > 3 } readdir $d;
  closedir $d;
  for (@left) { open my $h, '<&=', $_ and close $h }
}
sub let_go_of_pipes {
  open STDIN, '<', '/dev/null';
  open STDOUT, '>', '/dev/null';
  open STDERR, '>', '/dev/null';
}
sub enter_namespace {
  my ($uid, $gid) = ($>, $) + 0);
  syscall($unshare, $flags) == 0 or die "unshare: $!\\n";
  if ($flags & 0x10000000) {
    my %map = (setgroups => 'deny', uid_map => "$uid $uid 1", gid_map => "$gid $gid 1");
    for my $name (qw(setgroups uid_map gid_map)) {
      open my $f, '>', "/proc/self/$name" or die "$name: $!\\n";
      defined syswrite $f, $map{$name} or die "$name: $!\\n";
    }
  }
  syscall $prctl, 1, 9, 0, 0, 0;
  my $init = fork // die "fork: $!\\n";
  if ($init) {
    let_go_of_pipes();
    close $c;
    for my $s (qw(TERM INT HUP)) { $SIG{$s} = sub { kill $s, $init } }
    waitpid $init, 0;
    exit 0;
  }
  syscall $prctl, 1, 9, 0, 0, 0;
  my ($proc, $path, $none) = ('proc', '/proc', 'none');
  syscall($mount, $none, $path, $none, 0x44000, 0) == 0 or die "/proc: $!\\n";
  syscall($mount, $proc, $path, $proc, 14, 0) == 0 or die "mount of /proc: $!\\n";
}
my ($in, $told, $over, $leader, $errno, $gate, $left) = ('', 0, 0);
sub put { syswrite $c, "@_\\n" }
sub take {
  my $n = sysread $c, $in, 65536, length $in;
  end_all() unless $n || !defined $n && $! == 4;
}
sub kids {
  my @k;
  if (open my $f, '<', "/proc/$$/task/$$/children") { @k = split ' ', <$f> // '' }
  elsif (opendir my $d, '/proc') {
    for (grep /^\\d+$/, readdir $d) {
      open my $f, '<', "/proc/$_/stat" or next;
      push @k, $_ if (<$f> // '') =~ /.*\\) \\S+ $$ /s;
    }
  }
  @k
}
sub pinned { $leader && (!$over || ($prctl ? grep { getpgrp($_) == $leader } kids() : kill 0, -$leader)) }
sub signal_group {
  my $s = shift;
  kill $s, -$leader if pinned();
  kill $s, grep { getpgrp($_) != $leader } kids() if $over;
}
sub told_exec {
  my $n = sysread $errno, my $e, 16;
  undef $errno;
  put($n ? "failed $e" : 'started');
}
sub reaped {
  return if shift != $leader;
  my ($code, $signal) = ($? >> 8, $? & 127);
  told_exec() if $errno;
  $over = 1;
  put("exited $code $signal");
}
# Perl's own exec is execvp, which gives a file of no known format to a shell.
sub run {
  my ($file, $env, @argv) = @_;
  %ENV = map { split /=/, $_, 2 } @$env;
  return exec { $file } @argv unless $execve;
  my @ways = $file =~ m{/} ? $file : map { length ? "$_/$file" : $file } split /:/, $ENV{PATH} // '/bin:/usr/bin', -1;
  my ($argv, $envp) = (pack('p*', @argv, undef), pack('p*', @$env, undef));
  # ENOENT, EACCES and ENOTDIR: look further, and if there is nothing, say that something was there.
  my ($further, $denied) = qr/^(?:2|13|20)$/;
  for my $way (@ways) {
    syscall $execve, $way, $argv, $envp;
    last unless ($! + 0) =~ $further;
    $denied ||= $! == 13;
  }
  $! = 13 if $denied && ($! + 0) =~ $further;
}
sub end_all {
  kill 'KILL', -$leader if pinned();
  exit 0 if $$ == 1;
  for (1 .. 10000) {
    my @k = kids() or exit 0;
    kill 'KILL', @k;
    for (@k) { reaped($_) if waitpid($_, 0) == $_ }
  }
  exit 1;
}
enter_namespace() if $flags;
pipe my $wake, my $waker;
$SIG{CHLD} = sub { syswrite $waker, 'c' unless $told++ };
$SIG{PIPE} = 'IGNORE';
for my $s (qw(TERM INT HUP)) { $SIG{$s} = sub { signal_group($s) } }
syscall $prctl, 36, 1, 0, 0, 0 if $prctl;
take() until $in =~ s/^(\\d+)\\n//;
my $size = $1;
take() while length $in < $size;
my ($file, $argc, @rest) = split /\\0/, substr($in, 0, $size, ''), -1;
my @argv = splice @rest, 0, $argc;
$0 = "berth: holds $file";
pipe $left, $gate;
pipe $errno, my $failed;
my $me = $$;
$leader = fork;
if (!defined $leader) { put('failed', $! + 0); exit 125 }
if (!$leader) {
  $SIG{$_} = 'DEFAULT' for qw(CHLD PIPE TERM INT HUP);
  setpgrp 0, 0;
  syscall $prctl, 1, 9, 0, 0, 0 if $prctl;
  close $_ for $c, $gate, $errno, $wake, $waker;
  exit 125 unless sysread($left, my $go, 1) && getppid == $me;
  run($file, \\@rest, @argv);
  syswrite $failed, $! + 0;
  exit 127;
}
close $left;
close $failed;
let_go_of_pipes();
put('ready', $$, readlink('/proc/self/ns/pid') // '-', $leader);
for (;;) {
  my ($bits, $p) = '';
  vec($bits, $_, 1) = 1 for 3, fileno $wake, $errno ? fileno $errno : ();
  # A signal that comes between the last instruction and the call wakes nothing: look once a second.
  my $n = select $bits, undef, undef, 1;
  if ($n > 0 && vec $bits, fileno $wake, 1) { sysread $wake, my $x, 1 }
  $told = 0;
  if ($n > 0 && $errno && vec $bits, fileno $errno, 1) { told_exec() }
  if ($n > 0 && vec $bits, 3, 1) { take() }
  while ($in =~ s/^(\\w+)\\n//) {
    if ($1 eq 'KILL') { end_all() }
    elsif ($1 eq 'go') { syswrite $gate, 'g' if $gate; undef $gate }
    else { signal_group($1) }
  }
  reaped($p) while ($p = waitpid -1, 1) > 0;
  exit 0 if $p < 0 && $over && !pinned();
}
`;
