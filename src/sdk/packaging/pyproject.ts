/** What a wheel needs to know of `pyproject.toml`. */
export interface Project {
  name: string;
  description: string;
  requiresPython: string;
  dependencies: string[];
  classifiers: string[];
}

const TEXT = '"(?:[^"\\\\\\n]|\\\\.)*"';
const LIST = `\\[(?:\\s*${TEXT}\\s*,?)*\\s*\\]`;

/**
 * Of the table `project`, texts and lists of texts: written in double quotes they are JSON too, but for a comma at the
 * end of a list and remarks on lines of their own.
 */
export function projectIn(toml: string): Project {
  const [, table = ''] = /^\[project\]\s*$([\s\S]*?)(?=^\[|$(?![\s\S]))/m.exec(toml) ?? [];
  const lines = table.replace(/^\s*#.*$/gm, '');
  const member = (key: string, otherwise?: unknown): unknown => {
    const [, value] = new RegExp(`^${key}\\s*=\\s*(${TEXT}|${LIST})\\s*$`, 'm').exec(lines) ?? [];
    if (value === undefined && otherwise !== undefined) {
      return otherwise;
    }
    if (value === undefined) {
      throw new Error(`pyproject.toml has no ${key} in [project] that is a text or a list of texts.`);
    }
    return JSON.parse(value.replace(/,\s*\]$/, ']'));
  };
  return {
    name: String(member('name')),
    description: String(member('description')),
    requiresPython: String(member('requires-python')),
    dependencies: (member('dependencies') as unknown[]).map(String),
    classifiers: (member('classifiers', []) as unknown[]).map(String),
  };
}
