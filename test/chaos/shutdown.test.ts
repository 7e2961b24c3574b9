import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { DemoFileApplication } from '../../src/cli/demo/demo-file.js';
import { eventually } from '../support/eventually.js';
import { isRunning, type ServiceProcess, serviceProcesses } from '../support/service-process.js';

const services = serviceProcesses();

const IN_ORDER = ['edge', 'worker', 'domain'];

describe('a service that is asked to end', () => {
  test.each([
    ['SIGTERM', 'to the parent alone', 'signal'],
    ['SIGTERM', 'to the whole group', 'signalGroup'],
    ['SIGINT', 'to the whole group, as Ctrl-C does', 'signalGroup'],
  ] as const)('%s %s ends edge, worker and domain in this order, with exit code 0', async (name, _, send) => {
    const service = await services.start();
    const pids = service.rolePids();
    service[send](name);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.rolesThatSaid('ending')).toEqual(IN_ORDER);
    expect(service.output.text()).not.toContain('starting it again');
    expect(service.errors.text()).toMatch(/Ctrl-C ends everything\.\s*$/);
    expect(pids.some(isRunning)).toBe(false);
  });

  test('ends without a word of complaint while it is still starting', async () => {
    const service = await services.launch();
    const pids = await eventually('three children', () => service.childPids());
    service.signalGroup('SIGHUP');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    // On a busy machine it may serve before the signal arrives.
    expect(service.errors.text()).toMatch(
      /^(?:\nThe demo environment is serving\.[\s\S]*Ctrl-C ends everything\.\n)?$/,
    );
    expect(pids.some(isRunning)).toBe(false);
  });
});

describe('a running service', () => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await services.start({ env: { DRAIN_DELAY: '10m' } });
  });

  test('opens no debugger on SIGUSR1, and serves on', async () => {
    const pids = [service.pid, ...service.rolePids()];
    for (const pid of pids) {
      process.kill(pid, 'SIGUSR1');
    }
    await service.readiness();
    expect(service.errors.text()).not.toMatch(/debugger|inspector/i);
    expect([service.pid, ...service.rolePids()]).toEqual(pids);
  });

  test('starts a role again that was asked to end by itself', async () => {
    process.kill(service.pidOf('edge'), 'SIGTERM');
    const ended = await service.output.nextLine(({ msg }) => msg === 'edge ended, starting it again');
    expect(ended).toMatchObject({ code: 0 });
    expect(service.rolesThatSaid('ending')).toEqual(['edge']);
    await service.output.nextLine(({ msg }) => msg === 'edge is back');
  });

  test('is unready as soon as it is asked to end, and serves until the drain delay is over', async () => {
    service.signal('SIGTERM');
    const readiness = await eventually('the edge unready', async () => {
      const response = await fetch(`${service.opsUrl}/readyz`);
      const body = await response.text();
      // On a busy machine, a probe that is answered late makes it unready too.
      return response.status === 503 && body.includes('draining') && (JSON.parse(body) as object);
    });
    expect(readiness).toMatchObject({
      status: 'unready',
      roles: { edge: { checks: { shutdown: { ok: false, detail: 'draining' } } } },
    });
    const answer = await fetch(`${service.gatewayUrl}/nothing/here`);
    expect([answer.status, answer.headers.get('connection')]).toEqual([404, 'close']);
  });

  test('answers the request under way when a second signal ends the delay', async () => {
    const sent = await requestUnderWay(service);
    service.signal('SIGTERM');
    await eventually('the edge ending', async () => !(await answers(service.signOnUrl)));
    sent.end('token=x');

    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.resume();
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.rolesThatSaid('ending').slice(-3)).toEqual(IN_ORDER);
  });
});

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

/** A revocation, sent on a kept connection: the edge waits for its body, and asks the domain after that. */
async function requestUnderWay(service: ServiceProcess): Promise<ClientRequest> {
  const { clientId, clientSecret } = service
    .demo()
    .applications.find((application) => application.clientSecret) as DemoFileApplication;
  const sent = request(`${service.signOnUrl}/auth/revoke`, {
    agent: new Agent({ keepAlive: true }),
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      expect: '100-continue',
    },
  });
  sent.flushHeaders();
  await once(sent, 'continue');
  return sent;
}
