import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ASYNCAPI_DOCUMENT, generatedDir } from '../../src/codegen/layout.js';
import { bundlePath, readBundle } from '../../src/codegen/steps/bundles.js';
import { generateSdkEvents } from '../../src/codegen/steps/sdk-events.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const newDirectory = temporaryDirectories();

interface Contract {
  components: { messages: Record<string, object>; schemas: Record<string, object> };
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** A folder with the event types, of which one is new. */
async function generatedWith(type: string, data: object): Promise<string> {
  const contract = await readBundle<Contract>(generatedDir, ASYNCAPI_DOCUMENT);
  const { messages, schemas } = contract.components;
  messages[type] = { name: type, payload: ref('WorkerPausedEvent') };
  schemas.WorkerPausedEvent = { properties: { data: ref('WorkerPausedData') } };
  schemas.WorkerPausedData = data;
  const folder = newDirectory();
  mkdirSync(dirname(bundlePath(folder, ASYNCAPI_DOCUMENT)));
  writeFileSync(bundlePath(folder, ASYNCAPI_DOCUMENT), JSON.stringify(contract));
  await generateSdkEvents(folder);
  return folder;
}

test.each([
  [
    'at the links of which the gateway has nothing known',
    'payroll.closed',
    { type: 'string' },
    'payroll.closed',
  ],
  ['with a number', 'worker.paused', { type: 'integer' }, 'no type for'],
  ['with values without a name', 'worker.paused', { type: 'string', enum: ['A'] }, 'no type for'],
])('a new event type %s is refused', async (_, type, member, fault) => {
  await expect(generatedWith(type, { properties: { member } })).rejects.toThrow(fault);
});

test('a new event type of the contract is one of the SDKs in Python and Go, with each member as it is', async () => {
  const folder = await generatedWith('worker.paused', {
    properties: {
      workerId: ref('WorkerId'),
      reason: { type: ['string', 'null'] },
      until: { type: 'string', format: 'date-time' },
      standIns: { type: 'array', items: ref('UserManager') },
      unit: { oneOf: [ref('NamedUnit'), { type: 'null' }] },
      links: ref('WorkerLinks'),
    },
    required: ['workerId', 'reason', 'standIns', 'unit', 'links'],
  });
  const [python, go] = ['py', 'go'].map((end) =>
    readFileSync(join(folder, `asyncapi/events.${end}`), 'utf8'),
  );
  expect(python).toContain(`
class WorkerPausedData(_Data):
    worker_id: str
    reason: str | None
    until: datetime | None = None
    stand_ins: list[UserManager]
    unit: NamedUnit | None
`);
  expect(python).toContain(`
class WorkerPaused(Event[WorkerV2]):
    type: Literal["worker.paused"]
    data: WorkerPausedData
`);
  expect(python).toContain('    WorkerPaused,\n');
  expect(go).toMatch(/\n\tWorkerPaused +EventType = "worker.paused"\n/);
  expect(go).toContain(`
// WorkerPausedData belongs to WorkerPaused.
type WorkerPausedData struct {
	WorkerID string        \`json:"workerId"\`
	Reason   *string       \`json:"reason"\`
	Until    *time.Time    \`json:"until"\`
	StandIns []UserManager \`json:"standIns"\`
	Unit     *NamedUnit    \`json:"unit"\`
	Links    Links         \`json:"links"\`
}
`);
  expect(go).toContain('\tcase WorkerPaused:\n\t\treturn &WorkerPausedData{}\n');
});
