import { createServer, type RequestListener } from "node:http";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

export const audience = "https://mcp.example.com/mcp";
export const issuer = "https://login.example.com";
/** 2027-01-15, in milliseconds. */
export const present = 1_800_000_000_000;

/** One pair of keys, and tokens signed with it. */
export interface Signer {
  readonly jwk: JWK;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
  /** A token that is good at `present` for an hour, but for what these claims and header members change. A claim of undefined is left out. */
  sign(claims?: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Without a name for the key when that is empty. */
export async function createSigner(alg = "ES256", kid = "one"): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg, use: "sig", ...(kid !== "" && { kid }) };
  return {
    jwk,
    publicKey,
    privateKey,
    sign: (claims, header) =>
      new SignJWT({
        iss: issuer,
        aud: audience,
        sub: "ada",
        exp: present / 1_000 + 3_600,
        scope: "read write",
        ...claims,
      })
        .setProtectedHeader({ alg, ...(kid !== "" && { kid }), ...header })
        .sign(privateKey),
  };
}

/** An HTTP server on loopback, with how often it was asked. */
export interface KeyServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: number;
  /** What it answers from now on. */
  answer: RequestListener;
}

export async function startKeyServer(answer: RequestListener): Promise<KeyServer> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    keyServer.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const keyServer: KeyServer = {
    url: `http://127.0.0.1:${port}/jwks`,
    answer,
    get asked() {
      return asked;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return keyServer;
}

/** An answer with these keys. */
export function keySet(...keys: readonly JWK[]): RequestListener {
  return (_, response) => void response.setHeader("content-type", "application/json").end(JSON.stringify({ keys }));
}

export const never: AbortSignal = new AbortController().signal;
