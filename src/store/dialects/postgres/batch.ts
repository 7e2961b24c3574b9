import pg from 'pg';

/** What pg's own statements send with; its types leave it out. */
interface Wire {
  parse(statement: { text: string; name: string }): void;
  submittedNamedStatements: Record<string, string>;
  bind(portal: { portal: string; statement: string; values: readonly unknown[] }): void;
  execute(portal: { portal: string; rows?: number }): void;
}

interface Statement {
  text: string;
  values: readonly unknown[];
  name?: string;
}

type Answer = pg.QueryResult;
type OnAnswer = (error: Error | undefined, answer: Answer) => void;

/** The parts of pg's statement that are changed here. */
declare class PgStatement {
  name: string | undefined;
  constructor(statement: Statement, callback: OnAnswer);
  protected prepare(wire: Wire): void;
  handleCommandComplete(message: { text: string }, wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
}

const Base = pg.Query as unknown as typeof PgStatement;

/**
 * A statement together with those before it, sent without a wait. The server ends such a batch at its first
 * failure, so the statement does not run if `begin` fails. Separate messages would not do: after a failed
 * `begin`, the next one would be a transaction of its own.
 */
class Batch extends Base {
  #completed = 0;
  readonly #before: readonly string[];
  readonly #name: string | undefined;

  constructor(before: readonly string[], statement: Statement, onAnswer: OnAnswer) {
    super(statement, onAnswer);
    this.#before = before;
    this.#name = statement.name;
  }

  /** Called by pg: always in the protocol that sends parts. */
  requiresPreparation(): boolean {
    return true;
  }

  protected override prepare(wire: Wire): void {
    for (const text of this.#before) {
      run(wire, text);
    }
    super.prepare(wire);
    // With a name, pg would read the parse answer of an earlier statement as that of this one.
    this.name = undefined;
  }

  /** The answer is that of the statement. */
  override handleCommandComplete(message: { text: string }, wire: Wire): void {
    if (this.#completed === this.#before.length) {
      super.handleCommandComplete(message, wire);
    }
    this.#completed += 1;
    if (this.#completed === this.#before.length) {
      this.name = this.#name;
    }
  }

  /** After the failure of one of those before, the server has not prepared the statement. */
  override handleError(error: Error, wire: Wire): void {
    delete wire.submittedNamedStatements[this.#name ?? ''];
    super.handleError(error, wire);
  }
}

function run(wire: Wire, text: string): void {
  wire.parse({ text, name: '' });
  wire.bind({ portal: '', statement: '', values: [] });
  wire.execute({ portal: '' });
}

/** The answer to the statement. */
export function queryBatch(
  client: pg.ClientBase,
  before: readonly string[],
  statement: Statement,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onAnswer: OnAnswer = (error, answer) => (error ? reject(error) : resolve(answer));
    client.query(new Batch(before, statement, onAnswer) as unknown as pg.Submittable);
  });
}
