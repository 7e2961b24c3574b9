import type { DemoFilePerson } from '../../../src/cli/demo/demo-file.js';
import type { AttackedService } from '../../attacks/attacked-service.js';
import type { Role } from '../../support/service-process.js';
import { forEachOf, PatientClient } from '../patient-client.js';
import type { Family } from './families.js';
import { SignInFlow, type Step } from './sign-in-flow.js';

/** Kills at a state, not a time: after so many flows, while a request of this step awaits its answer. */
export interface Strike {
  role: Role;
  during: Step;
  afterFlows: number;
}

/** Many whole sign-ins at once, while what serves them is killed. */
export class Storm {
  readonly struck: Strike[] = [];
  readonly client: PatientClient<Step>;
  readonly #pending: Strike[];
  #finished = 0;

  constructor(
    private readonly on: AttackedService,
    strikes: readonly Strike[],
  ) {
    this.#pending = [...strikes];
    this.client = new PatientClient(on.service, () => this.#strikeIfDue());
  }

  /** One sign-in for each; the applications take turns. */
  run(people: readonly DemoFilePerson[], atOnce: number): Promise<Family[]> {
    const applications = [this.on.dashboard, this.on.mobile, this.on.portal] as const;
    return forEachOf(people, atOnce, async (person, index) => {
      const application = applications[index % 3] ?? this.on.dashboard;
      const family = await new SignInFlow(this.on, this.client, person, application).run();
      this.#finished += 1;
      return family;
    });
  }

  #strikeIfDue(): void {
    const [next] = this.#pending;
    const isDue = next && this.#finished >= next.afterFlows && this.client.underWay(next.during) > 0;
    if (isDue && this.#kill(next.role)) {
      this.struck.push(next);
      this.#pending.shift();
    }
  }

  /** False while it is away already. */
  #kill(role: Role): boolean {
    try {
      return process.kill(this.on.service.pidOf(role), 'SIGKILL');
    } catch {
      return false;
    }
  }
}
