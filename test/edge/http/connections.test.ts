import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { Connections } from '../../../src/edge/http/connections.js';

class Connection extends EventEmitter {
  destroyed = false;

  constructor(readonly remoteAddress: string) {
    super();
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function opened(connections: Connections, address: string): Connection {
  const connection = new Connection(address);
  connections.opened(connection as unknown as Socket);
  return connection;
}

/** A request that is not answered until its response is closed. */
function asked(connections: Connections, socket: Connection): EventEmitter {
  const response = new EventEmitter();
  const request = Object.assign(new EventEmitter(), { socket });
  connections.admit(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  return response;
}

const closed = (connections: Connection[]) => connections.map(({ destroyed }) => destroyed);

describe('one connection too many', () => {
  test('closes the one that the network with most has not used for longest', () => {
    const connections = new Connections(4);
    const modest = opened(connections, '192.0.2.1');
    const greedy = [1, 2, 3].map((host) => opened(connections, `2001:db8::${host}`));
    asked(connections, greedy[0] as Connection).emit('close');
    const newcomer = opened(connections, '192.0.2.2');
    expect(closed([modest, ...greedy, newcomer])).toEqual([false, false, true, false, false]);
  });

  test('closes an idle one before one that waits for an answer', () => {
    const connections = new Connections(2);
    const [waiting, idle] = [opened(connections, '192.0.2.1'), opened(connections, '192.0.2.1')];
    asked(connections, waiting);
    asked(connections, idle).emit('close');
    const newcomer = opened(connections, '192.0.2.2');
    expect(closed([waiting, idle, newcomer])).toEqual([false, true, false]);
  });

  test('closes one that waits for an answer where the network with most has no other', () => {
    const connections = new Connections(2);
    const waiting = [opened(connections, '192.0.2.1'), opened(connections, '192.0.2.1')];
    for (const connection of waiting) {
      asked(connections, connection);
    }
    const newcomer = opened(connections, '192.0.2.2');
    expect(closed([...waiting, newcomer])).toEqual([true, false, false]);
  });

  test('closes none of a trusted proxy, which has most because many clients come through it', () => {
    const connections = new Connections(4, (address) => address === '10.0.0.1');
    const proxied = [1, 2, 3].map(() => opened(connections, '10.0.0.1'));
    const direct = [1, 2].map((host) => opened(connections, `192.0.2.${host}`));
    expect(closed([...proxied, ...direct])).toEqual([false, false, false, true, false]);
  });

  test('closes one of a trusted proxy where next to no others are left', () => {
    const connections = new Connections(32, (address) => address === '10.0.0.1');
    const probes = [1, 2].map((host) => opened(connections, `192.0.2.${host}`));
    const proxied = Array.from({ length: 31 }, () => opened(connections, '10.0.0.1'));
    expect(closed(probes)).toEqual([false, false]);
    expect(closed(proxied).filter((isClosed) => isClosed)).toHaveLength(1);
  });

  test('is none as long as others have been closed', () => {
    const connections = new Connections(2);
    const open = [opened(connections, '192.0.2.1')];
    for (let time = 0; time < 5; time += 1) {
      opened(connections, '192.0.2.1').destroy();
    }
    open.push(opened(connections, '192.0.2.2'));
    expect(closed(open)).toEqual([false, false]);
  });
});
