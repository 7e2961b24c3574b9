import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import {
  AuditFault,
  type AuditFinding,
  AuditRecord,
} from '../../../../generated/proto/integration/operator/v1/audit.js';
import { explaining } from '../../startup-error.js';
import { Unfinished, UsageError } from '../errors.js';
import { unreadable } from '../file-lines.js';
import { inMessages, numbered, openLines } from '../import/import-lines.js';
import { jsonIn } from '../json.js';
import { print } from '../output/print.js';
import { asJsonLine, printableLine } from '../output/printable.js';
import { type Anchors, ExportedChains, placeOf, type Unverified } from './exported-chains.js';
import type { Action, Session } from './session.js';

type JsonObject = Record<string, unknown>;

const MESSAGE_WAIT_MS = 60_000;
/** How many findings the service names. */
const MOST_FINDINGS = 1_000;

/**
 * All chains, one after the other. A chain grows while others are exported, whose anchors then name its new
 * records: these follow, so that the export has all that its anchors name.
 */
export async function exportRecords({ operator }: Session): Promise<undefined> {
  const chains = new ExportedChains();
  const exportFrom = async (start: string, isWanted: (record: AuditRecord) => boolean) => {
    let pageToken = start;
    do {
      const page = await operator.listAuditRecords({ pageSize: 500, pageToken });
      const wanted = page.records.filter(isWanted);
      for (const record of wanted) {
        chains.take(record);
        print(asJsonLine(record));
      }
      pageToken = wanted.length < page.records.length ? '' : page.nextPageToken;
    } while (pageToken !== '');
  };
  await exportFrom('', () => true);
  for (let before = 0; before < chains.records; ) {
    before = chains.records;
    for (const { chain, fromSeq, toSeq } of chains.ends()) {
      await exportFrom(`${chain}/${fromSeq - 1}`, (record) => record.chain === chain && record.seq <= toSeq);
    }
  }
}

interface VerifyOptions {
  file?: string;
  anchors?: string;
  known?: string;
}

export const verify: Action<VerifyOptions> = async (session, _, { file, anchors, known }) => {
  if (file === undefined && anchors !== undefined) {
    throw new UsageError('--anchors needs --file: the stored records have anchors of their own.');
  }
  const isKnown = known === undefined ? () => false : knownFindingsIn(known);
  const json: Verified = file === undefined ? await stored(session) : await inFile(session, file, anchors);
  const { records, findings, unverified = [] } = json;
  const lines = [
    ...findings.map((finding) =>
      sentenceOf(`${isKnown(finding) ? 'known: ' : ''}${WORDS[finding.fault] ?? 'unknown fault'}`, finding),
    ),
    ...unverified.map((record) => sentenceOf('not verified', record)),
  ];
  const old = findings.filter(isKnown).length;
  const fresh = findings.length - old;
  // The service names no more: others may be behind them.
  const isFull = file === undefined && findings.length >= MOST_FINDINGS;
  if (fresh === 0 && unverified.length === 0 && !isFull) {
    const but = findings.length > 0 ? `, but for known findings: ${findings.length}` : '';
    lines.push(`${verdictOn(json, but)} Records read: ${records}.`);
    return { json, text: lines.map(printableLine).join('\n') };
  }
  const failure = new Unfinished(
    fresh > 0 || isFull
      ? `The audit log is not intact. Findings: ${findings.length}${old > 0 ? `, known: ${old}` : ''}.`
      : `Records that could not be verified: ${unverified.length}. A purge removed them during the export, or they were inserted into it. Export again.`,
  );
  return { json, text: lines.map(printableLine).join('\n'), failure };
};

function verdictOn({ anchoredChains }: Verified, but: string): string {
  if (anchoredChains === undefined) {
    return `The audit log is intact${but}.`;
  }
  return anchoredChains === 0
    ? `The records of the file are intact${but}. Whether records are missing at its end cannot be judged: --anchors was not given.`
    : `The file is intact and reaches its anchors${but}. Anchored chains: ${anchoredChains}. Whether records after the anchors are missing cannot be judged.`;
}

interface Verified {
  records: number;
  findings: AuditFinding[];
  /** Only for an export: records at places that a purge has emptied. */
  unverified?: Unverified[];
  /** Of an export: the number of chains whose ends were compared with given anchors. */
  anchoredChains?: number;
}

/** What was investigated, as `verify --json` printed it. */
function knownFindingsIn(file: string): (finding: AuditFinding) => boolean {
  const { findings } = explaining(
    UsageError,
    (why) => unreadable(why, file),
    () => JSON.parse(readFileSync(file, 'utf8')),
  );
  if (!Array.isArray(findings)) {
    throw new UsageError(`${file} is not what \`integration audit verify --json\` prints.`);
  }
  const known = new Set(findings.map((finding) => keyOf(Object(finding))));
  return (finding) => known.has(keyOf(JSON.parse(asJsonLine(finding))));
}

function keyOf({ fault, chain, fromSeq, toSeq, eventId }: JsonObject): string {
  return JSON.stringify([fault, chain, fromSeq, toSeq, eventId]);
}

/** The heads in the log lines of domains: of each chain the last one. */
async function anchorsIn(file: string): Promise<Anchors> {
  const anchors = new Map<string, string>();
  for await (const { text = '' } of openLines(file).lines) {
    for (const [chain, anchor] of Object.entries(headsIn(text))) {
      if (placeOf(String(anchor)) > placeOf(anchors.get(chain) ?? '')) {
        anchors.set(chain, String(anchor));
      }
    }
  }
  if (anchors.size === 0) {
    throw new UsageError(`${file} has no log line "the newest audit records" of a domain.`);
  }
  return anchors;
}

/** The heads in a line of the log; empty for all other lines. */
function headsIn(line: string): Record<string, unknown> {
  return (line.includes('"heads"') && Object(jsonIn(line)).heads) || {};
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

/** The service checks each record, and this command the chains. Their ends are those that anchors name. */
async function inFile({ operator }: Session, file: string, anchorFile: string | undefined) {
  const anchors: Anchors = anchorFile === undefined ? new Map() : await anchorsIn(anchorFile);
  const chains = new ExportedChains(anchors);
  const findings: AuditFinding[] = [];
  const judge = async (records: AuditRecord[]) =>
    findings.push(...(await operator.verifyAuditRecords({ records })).findings);
  for await (const batch of inMessages(recordsOf(file))) {
    findings.push(...batch.flatMap((record) => chains.take(record)));
    await judge(batch);
  }
  if (chains.records === 0) {
    // An audit log is never empty.
    throw new UsageError(`${file} has no records: the export failed.`);
  }
  const { findings: cut, firsts, unverified } = chains.beginnings();
  findings.push(...cut, ...chains.ends());
  for (const first of firsts) {
    await judge([first]);
  }
  return { records: chains.records, findings, unverified, anchoredChains: anchors.size };
}

async function* recordsOf(file: string): AsyncGenerator<{ item: AuditRecord; bytes: number }> {
  for await (const { line, text, bytes } of numbered(openLines(file).lines)) {
    yield { item: recordIn(file, line, text), bytes };
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
