import proto, { type temporal } from '@temporalio/proto';

const { History } = proto.temporal.api.history.v1;
type History = temporal.api.history.v1.IHistory;

/** As JSON, one event per line. The SDK's converter fails with several copies of protobufjs. */
export function historyToFile(history: History): string {
  const plain = History.toObject(History.fromObject(history), {
    longs: String,
    enums: String,
    bytes: String,
  });
  const events = plain.events.map((event: unknown) => JSON.stringify(event, withoutMachine));
  return `{"events":[\n${events.join(',\n')}\n]}\n`;
}

export function historyFromFile(text: string): History {
  return History.fromObject(JSON.parse(text));
}

/** Who ran it, and where, says nothing about the workflow and differs on each recording. */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'identity') {
    return 'recorder';
  }
  if (key === 'stackTrace') {
    return '';
  }
  return typeof value === 'string' ? value.replace(/^\d+@.+-(?=[0-9a-f]{32}$)/, 'recorder-') : value;
}
