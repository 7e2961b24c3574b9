import type { DemoClient, DemoPerson } from './directory.js';

/** Shared by all people of the demo, and easy to remember. It works in a demo only. */
export const DEMO_PASSWORD = 'correct-horse-demo';

/** A person to sign in as, and what the sign-in shows. */
export interface DemoSignIn {
  person: DemoPerson;
  note: string;
}

/** One for each case, the simplest first, and one who may not sign in. */
export function demoSignIns([tallowfern, , ostrander]: readonly DemoClient[]): DemoSignIn[] {
  const user = (client: DemoClient | undefined, index: number) => personOf(client?.users[index]);
  const worker = (client: DemoClient | undefined, index: number) => personOf(client?.workers[index]);
  return [
    { person: user(tallowfern, 5), note: 'user of Tallowfern on Harborlight; no access to Juniper' },
    { person: user(tallowfern, 7), note: 'invited user of Tallowfern; the first sign-in makes it ACTIVE' },
    { person: user(tallowfern, 3), note: 'disabled user of Tallowfern; may not sign in' },
    { person: worker(tallowfern, 3), note: 'worker of Tallowfern only' },
    { person: user(tallowfern, 2), note: 'invited user and worker of Tallowfern; chooses one' },
    {
      person: user(tallowfern, 0),
      note: 'user and worker of Tallowfern and of Quillmere; chooses one of four',
    },
    {
      person: user(tallowfern, 1),
      note: 'user and worker of Tallowfern on Harborlight, and of Ostrander on Juniper',
    },
    { person: user(ostrander, 1), note: 'user of Ostrander on Juniper; no access to Harborlight' },
  ];
}

function personOf(member: { person: DemoPerson } | undefined): DemoPerson {
  if (!member) {
    throw new Error('The demo has fewer people than are to sign in.');
  }
  return member.person;
}
