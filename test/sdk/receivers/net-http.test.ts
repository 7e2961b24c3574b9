import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { describeWith } from '../../support/toolchains.js';
import { GoProject } from '../go/installed-module.js';
import { describeReceiver, type Launch, type Variant } from './behaviour.js';
import { failingStores, programOf, replaced, withLines } from './page-programs.js';

const SERVES = 'http.Serve(listener, mux)';
const READING = `http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var parsed any
		_ = json.NewDecoder(r.Body).Decode(&parsed)
		_, _ = io.Copy(io.Discard, r.Body)
		mux.ServeHTTP(w, r)
	}))`;

const readBefore = (code: string) =>
  withLines(replaced(code, SERVES, READING), 'import (', '\t"encoding/json"\n\t"io"');

describeWith('go', 'the handler for net/http', (go) => {
  let project: GoProject;

  const launch = async (variant: Variant): Promise<Launch> => {
    const code = programOf('server.go');
    const store = variant === 'failing' ? failingStores['store.go'] : programOf('store.go');
    const name = variant.replaceAll(' ', '-');
    mkdirSync(join(project.folder, name));
    writeFileSync(
      join(project.folder, name, 'server.go'),
      variant === 'read before' ? readBefore(code) : code,
    );
    writeFileSync(join(project.folder, name, 'store.go'), store);
    await project.run('vet', `./${name}`);
    await project.run('build', '-o', `${name}/program`, `./${name}`);
    return { command: [join(project.folder, name, 'program')], cwd: project.folder, ready: 'listening' };
  };

  const receiver = describeReceiver({
    install: async () => {
      project = await GoProject.install(go);
    },
    launch,
    advice: /no handler or middleware before it may read r\.Body/,
  });

  test('answers 400 where the body cannot be read; the cause is for the log', async () => {
    const { port, hostname, pathname } = new URL(receiver().url);
    const socket = connect(Number(port), hostname);
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n`);
    socket.write('Transfer-Encoding: chunked\r\n\r\nno length\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\nthe body could not be read\n$/);
    const cause = 'answered 400: invalid byte in chunk length';
    expect(await receiver().program.says(cause)).toContain(cause);
  });
});
