import { isDeepStrictEqual } from 'node:util';
import {
  AuditFault,
  type AuditFinding,
  AuditRecord,
} from '../../../../generated/proto/integration/operator/v1/audit.js';
import { Unfinished, UsageError } from '../errors.js';
import { BYTES_IN_MESSAGE, openLines } from '../import/import-lines.js';
import { print } from '../output/print.js';
import { asJsonLine, printableLine } from '../output/printable.js';
import { ExportedChains, type Unverified } from './exported-chains.js';
import type { Action, Session } from './session.js';

type JsonObject = Record<string, unknown>;

const RECORDS_AT_ONCE = 200;
const MESSAGE_WAIT_MS = 60_000;

export async function exportRecords({ operator }: Session): Promise<undefined> {
  let pageToken = '';
  do {
    const page = await operator.listAuditRecords({ pageSize: 500, pageToken });
    for (const record of page.records) {
      print(asJsonLine(record));
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
}

export const verify: Action<{ file?: string }> = async (session, _, { file }) => {
  const json: Verified = file === undefined ? await stored(session) : await inFile(session, file);
  const { records, findings, unverified = [] } = json;
  if (findings.length === 0 && unverified.length === 0) {
    return { json, text: `The audit log is intact. Records read: ${records}.` };
  }
  const lines = [
    ...findings.map((finding) => sentenceOf(WORDS[finding.fault] ?? 'unknown fault', finding)),
    ...unverified.map((record) => sentenceOf('not verified', record)),
  ];
  const failure = new Unfinished(
    findings.length > 0
      ? `The audit log is not intact. Findings: ${findings.length}.`
      : `Records that could not be verified: ${unverified.length}. A purge removed them during the export, or they were inserted into it. Export again.`,
  );
  return { json, text: lines.map(printableLine).join('\n'), failure };
};

interface Verified {
  records: number;
  findings: AuditFinding[];
  /** Only for an export: records at places that a purge has emptied. */
  unverified?: Unverified[];
}

async function stored({ operator }: Session) {
  const options = { deadlineMs: Number.POSITIVE_INFINITY, messageWaitMs: MESSAGE_WAIT_MS };
  const findings: AuditFinding[] = [];
  let records = 0;
  let isDone = false;
  for await (const answer of operator.verifyAuditLog({}, options)) {
    findings.push(...answer.findings);
    ({ records, done: isDone } = answer);
  }
  if (!isDone) {
    throw new Unfinished('The service stopped before the whole log was read. Try again.');
  }
  return { records, findings };
}

/** The service checks each record, and this command the chains. It cannot see that the end is missing. */
async function inFile({ operator }: Session, file: string) {
  const chains = new ExportedChains();
  const findings: AuditFinding[] = [];
  const judge = async (records: AuditRecord[]) =>
    findings.push(...(await operator.verifyAuditRecords({ records })).findings);
  let records = 0;
  for await (const batch of batchesOf(file)) {
    records += batch.length;
    findings.push(...batch.flatMap((record) => chains.take(record)));
    await judge(batch);
  }
  if (records === 0) {
    // An audit log is never empty.
    throw new UsageError(`${file} has no records: the export failed.`);
  }
  const { findings: cut, firsts, unverified } = chains.beginnings();
  findings.push(...cut);
  for (const first of firsts) {
    await judge([first]);
  }
  return { records, findings, unverified };
}

async function* batchesOf(file: string): AsyncGenerator<AuditRecord[]> {
  let batch: AuditRecord[] = [];
  let batchBytes = 0;
  let line = 0;
  for await (const { text, bytes } of openLines(file).lines) {
    line += 1;
    if (text?.trim() === '') {
      continue;
    }
    const record = recordIn(file, line, text);
    if (batch.length === RECORDS_AT_ONCE || batchBytes + bytes > BYTES_IN_MESSAGE) {
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    batch.push(record);
    batchBytes += bytes;
  }
  if (batch.length > 0) {
    yield batch;
  }
}

function recordIn(file: string, line: number, text = ''): AuditRecord {
  try {
    const given = JSON.parse(text);
    const event = { ...given.event, occurredAt: new Date(given.event.occurredAt) };
    const record = AuditRecord.decode(AuditRecord.encode({ ...given, event }).finish());
    // The service verifies only the members that it knows: others would look verified to a reader of the
    // file.
    if (saysNoMore(given, JSON.parse(asJsonLine(record)))) {
      return record;
    }
  } catch {
    // An unreadable line is refused with the same message.
  }
  throw new UsageError(`Line ${line} of ${file} is not an exported record.`);
}

/** Whether all members are known. Some may be missing, because earlier versions exported fewer. */
function saysNoMore({ event, ...given }: JsonObject, { event: knownEvent, ...known }: JsonObject): boolean {
  return (
    Object.entries(given).every(([name, value]) => isDeepStrictEqual(value, known[name])) &&
    (event === undefined || saysNoMore(event as JsonObject, knownEvent as JsonObject))
  );
}

const WORDS: Partial<Record<AuditFault, string>> = {
  [AuditFault.CHANGED]: 'changed',
  [AuditFault.MISSING]: 'missing',
  [AuditFault.UNCHAINED]: 'in no chain',
  [AuditFault.OTHER_KEY]: 'made with other keys',
};

function sentenceOf(words: string, { chain, fromSeq, toSeq, eventId }: Unverified): string {
  const place = chain === '' ? '' : ` ${chain} ${fromSeq === toSeq ? fromSeq : `${fromSeq} to ${toSeq}`}`;
  return `${words}:${place}${eventId === undefined ? '' : ` ${eventId}`}`;
}
