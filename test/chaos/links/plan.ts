import { randomFrom } from '../../support/random-from.js';

/** Forgotten: present connections stay silent for ever, and new ones work. */
export const KINDS = ['cut', 'silent', 'forgotten', 'slow'] as const;

export type Kind = (typeof KINDS)[number];

export interface Strike<Link extends string = string> {
  link: Link;
  kind: Kind;
  /** One way. */
  delayMs: number;
  /** So many operations are acknowledged while it lasts. */
  operations: number;
}

export interface Campaign<Link extends string> {
  seed: number;
  links: readonly Link[];
  /** In each, every link is struck in every way. Without any, each link is struck once and briefly. */
  rounds: number;
}

const DELAYS_MS = { least: 50, most: 200 };
/** About 20 s: longer than each deadline, and than PostgreSQL lets a transaction stand still. */
const MOST_OPERATIONS = 800;
const FEW_OPERATIONS = 40;

/** The same for the same seed. */
export function strikesOf<Link extends string>({ seed, links, rounds }: Campaign<Link>): Strike<Link>[] {
  const random = randomFrom(seed);
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const shuffled = <T>(items: readonly T[]): T[] => {
    const left = [...items];
    return items.map(() => left.splice(between(0, left.length - 1), 1)[0] as T);
  };
  const round = () => shuffled(links.flatMap((link) => KINDS.map((kind) => ({ link, kind }))));
  const once = (kinds: readonly Kind[], some: readonly Link[]) => {
    const [first, order] = [shuffled(some), shuffled(kinds)];
    return first.map((link, index) => ({ link, kind: order[index % order.length] as Kind }));
  };
  const brief = () => {
    const isSlowToMend = (link: string) => link.endsWith('PostgreSQL');
    return shuffled([
      ...once(
        KINDS,
        links.filter((link) => !isSlowToMend(link)),
      ),
      // A domain waits 25 s for the answer to a statement.
      ...once(
        KINDS.filter((kind) => kind !== 'forgotten'),
        links.filter(isSlowToMend),
      ),
    ]);
  };
  const pairs = rounds === 0 ? brief() : Array.from({ length: rounds }, round).flat();
  return pairs.map((pair) => ({
    ...pair,
    delayMs: between(DELAYS_MS.least, DELAYS_MS.most),
    operations: between(1, rounds === 0 ? FEW_OPERATIONS : MOST_OPERATIONS),
  }));
}
