interface Family {
  name: string;
  type: string;
  samples: string[];
}

const SAMPLE =
  /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (-?[\d.]+(?:e[+-]?\d+)?|[+-]?Inf|Nan)$/;

/** Reads an exposition as Prometheus does: strictly; what it would refuse throws. */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) {
    throw new Error('the last line does not end');
  }
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let current: Family | undefined;
  let helped: string | undefined;
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      helped = name;
    } else if (keyword === 'TYPE') {
      if (families.has(name) || helped !== name) {
        throw new Error(`the header of ${name} stands twice or apart`);
      }
      current = { name, type: rest, samples: [] };
      families.set(name, current);
    } else {
      current?.samples.push(sampleOf(line, current, seen));
    }
  }
  return families;
}

function sampleOf(line: string, family: Family, seen: Set<string>): string {
  const [, name = '', labels = ''] = SAMPLE.exec(line) ?? [];
  const suffix = family.type === 'histogram' || family.type === 'summary' ? '(_bucket|_sum|_count)?' : '';
  if (!new RegExp(`^${family.name}${suffix}$`).test(name)) {
    throw new Error(`not a sample of ${family.name}: ${line}`);
  }
  if (seen.has(name + labels)) {
    throw new Error(`the same sample twice: ${line}`);
  }
  seen.add(name + labels);
  return line;
}
