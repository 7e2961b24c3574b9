import type { DemoFileApplication } from '../../../src/cli/demo/demo-file.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { type ApplicationSettings, duringTests, Environment } from './environment.js';
import { type PartyOptions, type RegisteredApplication, RelyingParty } from './relying-party.js';
import type { Credentials } from './walk.js';

const [tallowfern, quillmere, ostrander] = demoSeed.clients.map(({ id }) => id) as [string, string, string];
const [harborlight, juniper] = demoSeed.instances.map(({ id }) => id) as [string, string];

/** Tallowfern and Quillmere are clients of Harborlight, Ostrander is one of Juniper. */
export const clientIds = { tallowfern, quillmere, ostrander };
export const instanceIds = { harborlight, juniper };

export const apps = {
  portal: 'Brightledger Portal',
  mobile: 'Brightledger Mobile',
  shiftwise: 'Shiftwise Web',
  dashboard: 'Harborlight Dashboard',
  timesheets: 'Tidewater Timesheets',
} as const;

type ApplicationName = (typeof apps)[keyof typeof apps];

/** In the order of demo.json. */
const PEOPLE = ['user', 'invited', 'disabled', 'worker', 'two', 'four', 'both', 'juniper'] as const;

/** A demo environment with its people and applications. */
export class DemoEnvironment extends Environment {
  constructor(service: ServiceProcess) {
    super(service, service.demo());
  }

  application(name: ApplicationName): DemoFileApplication {
    return this.service.demo().applications.find((each) => each.name === name) as DemoFileApplication;
  }

  /** An application as its people write it. */
  party(application: ApplicationName | RegisteredApplication, options?: PartyOptions): Promise<RelyingParty> {
    const registered = typeof application === 'string' ? this.application(application) : application;
    return RelyingParty.of(this.url, registered, options);
  }

  /** With a redirect URI for each of the instances. */
  newDemoApplication(settings?: ApplicationSettings): Promise<RegisteredApplication> {
    return this.newApplication([harborlight, juniper], settings);
  }

  /** A person of the seed. */
  demoPerson(which: (typeof PEOPLE)[number]): Credentials {
    return this.service.demo().people[PEOPLE.indexOf(which)] as Credentials;
  }
}

/** A demo environment for the tests of one file. */
export function demoEnvironment() {
  const services = serviceProcesses();
  return duringTests(async () => new DemoEnvironment(await services.start()));
}
