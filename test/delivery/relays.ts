import { afterEach } from '@jest/globals';
import { Relay, type RelayOptions } from '../../src/delivery/relay.js';
import { recordedLog } from '../support/recorded-log.js';
import { FakeDomain, HeldSender } from './fake-domain.js';

/** Relays between a domain and a sender of the test, which end with it. */
export function relaysUnderTest() {
  const relays: Relay[] = [];
  afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.stop(0))));

  return (options: Partial<RelayOptions> = {}) => {
    const domain = new FakeDomain();
    const sender = new HeldSender();
    const log = recordedLog();
    const relay = new Relay({
      deliveries: domain,
      sender,
      log: log.log,
      sends: 8,
      sendsPerSubscription: 4,
      ...options,
    });
    relays.push(relay);
    return { domain, sender, relay, log };
  };
}
