import { generateKeyPairSync, type KeyPairKeyObjectResult, randomBytes, sign } from 'node:crypto';

const OID = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
};
const DAY_MS = 86_400_000;

export interface Issued {
  certificate: string;
  key: string;
}

export interface Validity {
  notBefore?: number;
  notAfter?: number;
}

/** A self-signed certificate for localhost, encoded in DER because Node only reads certificates. */
export function selfSignedCertificate(validity?: Validity): Issued {
  const keys = newKeys();
  return issue({
    subject: 'localhost',
    keys,
    issuer: 'localhost',
    signer: keys,
    isAuthority: true,
    ...validity,
  });
}

/** A new authority. It issues certificates for localhost and 127.0.0.1, for servers and clients. */
export function newAuthority(name: string) {
  const signer = newKeys();
  const { certificate } = issue({ subject: name, keys: signer, issuer: name, signer, isAuthority: true });
  const issued = (validity?: Validity) =>
    issue({ subject: 'localhost', keys: newKeys(), issuer: name, signer, isAuthority: false, ...validity });
  return { certificate, issue: issued };
}

interface Request extends Validity {
  subject: string;
  keys: KeyPairKeyObjectResult;
  issuer: string;
  signer: KeyPairKeyObjectResult;
  isAuthority: boolean;
}

function newKeys(): KeyPairKeyObjectResult {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function issue({ subject, keys, issuer, signer, isAuthority, ...validity }: Request): Issued {
  const { notBefore = Date.now() - DAY_MS, notAfter = Date.now() + DAY_MS } = validity;
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const altNames = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = sequence(
    sequence(oid(OID.subjectAltName), der(0x04, altNames)),
    sequence(
      oid(OID.basicConstraints),
      der(0x01, Buffer.from([0xff])),
      der(0x04, sequence(...(isAuthority ? [der(0x01, Buffer.from([0xff]))] : []))),
    ),
  );
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...randomBytes(8)])),
    algorithm,
    nameOf(issuer),
    sequence(utcTime(notBefore), utcTime(notAfter)),
    nameOf(subject),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = sign('sha256', toBeSigned, signer.privateKey);
  const bytes = sequence(toBeSigned, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function nameOf(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid(OID.commonName), der(0x0c, Buffer.from(commonName)))));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function utcTime(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${text}Z`));
}
