const GAP = '  ';

/** Columns as wide as their widest cell. */
export function asColumns(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd();
  return [head.map((title) => title.toUpperCase()), ...rows].map(line).join('\n');
}

/** Facts about one thing, a line each; a fact of several values takes as many lines. */
export function asFacts(facts: readonly (readonly [string, string | readonly string[]])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts
    .flatMap(([name, value]) => {
      const [first = '-', ...others] = typeof value === 'string' ? [value] : value;
      return [
        `${name.padEnd(width)}${GAP}${first}`,
        ...others.map((other) => `${' '.repeat(width)}${GAP}${other}`),
      ];
    })
    .join('\n');
}

/** To the second, in UTC. */
export function asTime(at: Date | undefined, otherwise = '-'): string {
  return at ? `${at.toISOString().slice(0, 19).replace('T', ' ')}Z` : otherwise;
}

/** `KEY_STATUS_ACTIVE` becomes `active`. */
export function asWord(value: string, prefix: string): string {
  return value.replace(prefix, '').toLowerCase().replaceAll('_', ' ');
}
