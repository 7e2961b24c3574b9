// Plays systemd for the commands on the pages: `node systemd.js <program> <root> <arguments>`. Paths of units and
// arguments are below the root, and every command runs as the user of the test.
import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const [program, root, ...args] = process.argv.slice(2);
const LOOK_EVERY_MS = 20;
/** The first folders of absolute paths. */
const PLACES = /(?<![\w.])\/(?=(?:etc|opt|run|usr|var)\b)/g;

const below = (text) => text.replaceAll(PLACES, `${root}/`);
const linesOf = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(?:#|;|$)/.test(line));
const logOf = (unit) => join(root, 'var/log', `${unit}.log`);
const pidFileOf = (unit) => join(root, 'run', `${unit}.pid`);

/** systemd passes none of its own environment but the PATH. What tests compiled need not be compiled again. */
const pristine = () => ({ PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE });

function assign(env, assignment) {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(assignment);
  env[name] = value;
}

/** Applies a setting of a unit, or a property of `systemd-run`. Those that limit the process are left out. */
function apply(service, setting) {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(setting);
  if (name === 'Environment') {
    for (const each of value.split(/\s+/)) {
      assign(service.env, each);
    }
  } else if (name === 'EnvironmentFile') {
    service.environmentFiles.push(value);
  } else if (name === 'LoadCredential') {
    const [credential, path] = value.split(':');
    mkdirSync(service.credentials, { recursive: true });
    copyFileSync(path, join(service.credentials, credential));
  } else if (name === 'StateDirectory') {
    mkdirSync(join(root, 'var/lib', value), { recursive: true, mode: 0o700 });
  } else if (name === 'ExecStart') {
    service.command = value.split(' ');
  }
}

function newService(unit) {
  return { env: pristine(), environmentFiles: [], credentials: join(root, 'run/credentials', unit) };
}

/** EnvironmentFile= takes precedence over Environment=. */
function environmentOf({ env, environmentFiles }) {
  for (const file of environmentFiles) {
    const isOptional = file.startsWith('-');
    const path = file.replace(/^-/, '');
    if (existsSync(path) || !isOptional) {
      for (const line of linesOf(path)) {
        assign(env, line);
      }
    }
  }
  return env;
}

function run() {
  const unit = args.find((each) => each.startsWith('--unit='))?.slice('--unit='.length) ?? 'run-1';
  const service = newService(`${unit}.service`);
  while (args[0]?.startsWith('--')) {
    const option = args.shift();
    if (option.startsWith('--property=')) {
      apply(service, below(option.slice('--property='.length)));
    } else if (option.startsWith('--setenv=')) {
      assign(service.env, below(option.slice('--setenv='.length)));
    }
  }
  const [command, ...rest] = args;
  const env = environmentOf(service);
  const { status } = spawnSync(below(command), rest, { env, cwd: root, stdio: 'inherit' });
  process.exit(status ?? 1);
}

function unitOf(name) {
  const [, template = name, instance = ''] = /^([\w-]+@)([\w-]+)$/.exec(name) ?? [];
  const folder = join(root, 'etc/systemd/system');
  const dropIns = join(folder, `${template}.service.d`);
  const files = [
    join(folder, `${template}.service`),
    ...(existsSync(dropIns) ? readdirSync(dropIns).map((each) => join(dropIns, each)) : []),
  ];
  const service = newService(`${name}.service`);
  for (const line of files.flatMap(linesOf)) {
    if (!line.startsWith('[')) {
      apply(service, below(line).replaceAll('%i', instance).replaceAll('%d', service.credentials));
    }
  }
  return service;
}

function start(name) {
  const service = unitOf(name);
  const [command, ...rest] = service.command;
  mkdirSync(join(root, 'var/log'), { recursive: true });
  // A process that may no longer write to files must still be able to log.
  const pipe = join(root, 'run', `${name}.${process.pid}.log`);
  spawnSync('mkfifo', [pipe]);
  spawn('cat', [pipe], { stdio: ['ignore', openSync(logOf(name), 'a'), 'ignore'], detached: true }).unref();
  const log = openSync(pipe, 'w');
  const stdio = ['ignore', log, log];
  const child = spawn(command, rest, { env: environmentOf(service), cwd: root, stdio, detached: true });
  writeFileSync(pidFileOf(name), String(child.pid));
  child.unref();
}

function isRunning(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

async function stop(name) {
  if (!existsSync(pidFileOf(name))) {
    return;
  }
  const pid = Number(readFileSync(pidFileOf(name), 'utf8'));
  if (isRunning(pid)) {
    process.kill(pid, 'SIGTERM');
  }
  while (isRunning(pid)) {
    await pause(LOOK_EVERY_MS);
  }
}

async function control() {
  const verb = args.find((each) => !each.startsWith('-'));
  const unit = args.at(-1);
  const enabled = join(root, 'run', `${unit}.enabled`);
  if (verb === 'is-enabled') {
    process.exit(existsSync(enabled) ? 0 : 1);
  }
  if (verb === 'enable') {
    writeFileSync(enabled, '');
  } else if (verb === 'disable') {
    rmSync(enabled, { force: true });
  }
  if (verb === 'stop' || verb === 'restart') {
    await stop(unit);
  }
  if (verb === 'start' || verb === 'restart' || (verb === 'enable' && args.includes('--now'))) {
    start(unit);
  }
}

function journal() {
  const pattern = args.includes('--grep') ? args[args.indexOf('--grep') + 1] : '';
  const lines = linesOf(logOf(args[args.indexOf('-u') + 1]));
  process.stdout.write(
    lines
      .filter((line) => new RegExp(pattern).test(line))
      .map((line) => `${line}\n`)
      .join(''),
  );
}

await { 'systemd-run': run, systemctl: control, journalctl: journal }[basename(program)]();
