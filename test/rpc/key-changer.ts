import { createCipheriv, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const CIPHER = 'TLS_AES_128_GCM_SHA256';
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0]);
const HANDSHAKE = 22;
const TAG_BYTES = 16;

/** A peer that sends this many KeyUpdates after its TLS 1.3 handshake, which Node cannot do. */
export async function keyChanger(port: number, changes: number): Promise<Socket> {
  const tcp = connect(port, '127.0.0.1');
  const options = { ciphers: CIPHER, ALPNProtocols: ['h2'], rejectUnauthorized: false };
  const tls = connectTls({ socket: tcp, ...options }).on('error', () => undefined);
  let secret: Buffer = Buffer.alloc(0);
  tls.on('keylog', (line) => {
    const [label, , hex] = String(line).trim().split(' ');
    secret = label === 'CLIENT_TRAFFIC_SECRET_0' ? Buffer.from(hex ?? '', 'hex') : secret;
  });
  tls.resume();
  // The server sends a session ticket when its side of the handshake is complete.
  await once(tls, 'session');
  const records: Buffer[] = [];
  for (let change = 0; change < changes; change += 1) {
    records.push(keyUpdate(secret));
    secret = expand(secret, 'traffic upd', 32);
  }
  tcp.write(Buffer.concat(records));
  return tcp;
}

/** A KeyUpdate as the first record under the keys of the secret (RFC 8446, sections 4.6.3 and 5.2). */
function keyUpdate(secret: Buffer): Buffer {
  const content = Buffer.from([...KEY_UPDATE, HANDSHAKE]);
  const header = Buffer.from([23, 3, 3, 0, content.length + TAG_BYTES]);
  const cipher = createCipheriv('aes-128-gcm', expand(secret, 'key', 16), expand(secret, 'iv', 12));
  cipher.setAAD(header);
  return Buffer.concat([header, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF-Expand-Label (RFC 8446, section 7.1), of one block. */
function expand(secret: Buffer, name: string, length: number): Buffer {
  const label = Buffer.from(`tls13 ${name}`);
  const info = Buffer.from([0, length, label.length, ...label, 0, 1]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, length);
}
