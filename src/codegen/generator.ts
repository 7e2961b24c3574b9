import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { root } from './layout.js';

/** Of the version in `openapi/openapitools.json`; both change together. */
const GENERATOR_SHA256 = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae';
const NAME = 'openapi-generator-cli';

/** Puts the generator where its wrapper looks for it: the wrapper would fetch it and check nothing. */
export async function placeGenerator(): Promise<void> {
  const settings = JSON.parse(await readFile(join(root, 'openapi/openapitools.json'), 'utf8'));
  const { version } = settings['generator-cli'];
  const url = `https://repo1.maven.org/maven2/org/openapitools/${NAME}/${version}/${NAME}-${version}.jar`;
  const file = join(root, `node_modules/@openapitools/${NAME}/versions/${version}.jar`);
  await placeFile(file, url, GENERATOR_SHA256);
}

/** Downloads the file unless it is there with this content; what has other content is not placed. */
export async function placeFile(file: string, url: string, sha256: string): Promise<void> {
  const present = await readFile(file).catch(() => undefined);
  if (present && sha256Of(present) === sha256) {
    return;
  }
  const answer = await fetch(url, { dispatcher: new EnvHttpProxyAgent() });
  if (!answer.ok) {
    throw new Error(`${url} answers ${answer.status}.`);
  }
  const content = Buffer.from(await answer.arrayBuffer());
  const found = sha256Of(content);
  if (found !== sha256) {
    throw new Error(`The SHA-256 of ${url} is ${found}, not ${sha256}.`);
  }
  await mkdir(dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}.partial`;
  await writeFile(partial, content);
  await rename(partial, file);
}

function sha256Of(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
