import type { DemoClient, DemoPerson } from './directory.js';

/** The same for all of them, so that it can be typed from memory. It opens nothing but a demo. */
export const DEMO_PASSWORD = 'correct-horse-demo';

/** Somebody to sign in as, and what there is to see then. */
export interface DemoSignIn {
  person: DemoPerson;
  note: string;
}

/** One for each way in, the plainest first, and one for whom there is none. */
export function demoSignIns([tallowfern, , ostrander]: readonly DemoClient[]): DemoSignIn[] {
  const user = (client: DemoClient | undefined, index: number) => personOf(client?.users[index]);
  const worker = (client: DemoClient | undefined, index: number) => personOf(client?.workers[index]);
  return [
    { person: user(tallowfern, 5), note: 'user of Tallowfern on Harborlight; nobody on Juniper' },
    { person: user(tallowfern, 7), note: 'invited user of Tallowfern; the first sign-in makes it ACTIVE' },
    { person: user(tallowfern, 3), note: 'disabled user of Tallowfern; may sign in nowhere' },
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
    { person: user(ostrander, 1), note: 'user of Ostrander on Juniper; nobody on Harborlight' },
  ];
}

function personOf(member: { person: DemoPerson } | undefined): DemoPerson {
  if (!member) {
    throw new Error('The demo has fewer people than are to sign in.');
  }
  return member.person;
}
