import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Document } from '../documents.js';
import { BANNER, GO_BANNER } from '../layout.js';
import { readBundle } from './bundles.js';
import { camel, type Model, modelsOf, type Read, readsOf } from './sdk-reads-contract.js';

/** The gateway's document -> its reads and the models, in all three SDKs. */
export async function generateSdkReads(outDir: string): Promise<void> {
  const files = sdkReads(await readBundle(outDir, 'gateway'));
  for (const [path, text] of Object.entries(files)) {
    const file = join(outDir, 'sdk', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** Files by their path in `sdk/`. */
export function sdkReads(contract: Document): Record<string, string> {
  const reads = readsOf(contract);
  const models = modelsOf(contract);
  const withCodes = [...models, { name: 'ProblemCode', values: ['invalid_request'] }];
  return {
    'go/reads/models.go': goModels(models),
    'go/reads/reads.go': `${GO_BANNER}\npackage sdk\n\nimport "context"\n${reads.map(goRead).join('')}`,
    'python/reads/integration_service/_reads.py': pythonReads(reads),
    'python/reads/integration_service/models.py': pythonModels(withCodes.map(({ name }) => name).sort()),
    'typescript/records.ts': BANNER + withCodes.map(typescriptModel).sort().join(''),
    'typescript/reads.ts': typescriptReads(reads),
  };
}

function typescriptModel({ name, values }: Model): string {
  return `export ${values.length > 0 ? '' : 'type '}{ ${name} } from './gateway/models/${name}.js';\n`;
}

function typescriptReads(reads: readonly Read[]): string {
  const groups = groupsOf(reads);
  const records = recordsOf(reads);
  const values = [
    ...groups.map((group) => [apiOf(group), 'apis', apiOf(group)]),
    ...records.map((record) => [`${record}FromJSON`, 'models', record]),
  ].map(([name, folder, file]) => `import { ${name} } from './gateway/${folder}/${file}.js';\n`);
  return `${BANNER}${values.join('')}import type { Configuration } from './gateway/runtime.js';
import type { ${records.join(', ')} } from '../models.js';
import type { Paged } from '../paged.js';
import type { AnyReadOptions, ConditionalReadOptions, PagedOptions, Reader, Reading, ReadOptions } from '../reader.js';

/** The reads of the gateway. The generated clients prepare requests and send none. */
export class Reads {
  readonly #reader: Reader;
${groups.map((group) => `  readonly ${privateOf(group)}: ${apiOf(group)};\n`).join('')}
  constructor(reader: Reader, configuration: Configuration) {
    this.#reader = reader;
${groups.map((group) => `    this.${privateOf(group)} = new ${apiOf(group)}(configuration);\n`).join('')}  }
${reads.map(typescriptRead).join('')}}
`;
}

function typescriptRead(read: Read): string {
  const { operation, name, sentence, group, inPath, inQuery, record, isList, pages } = read;
  const type = `${record}${isList ? '[]' : ''}`;
  const ids = [...inPath, ...inQuery];
  const given = ids.map((id) => `${id}: string, `).join('');
  const request = `this.${privateOf(group)}.${operation}RequestOpts({ ${[...ids, '...asked'].join(', ')} })`;
  const asked = `(asked) => ${request}, ${record === 'string' ? 'String' : `${record}FromJSON`}, options`;
  const whole = `
  /** ${sentence} */
  ${name}(${given}options: ConditionalReadOptions): Promise<Reading<${type}>>;
  ${name}(${given}options?: ReadOptions): Promise<${type}>;
  ${name}(${given}options: AnyReadOptions = {}): Promise<${type} | Reading<${type}>> {
    return this.#reader.${isList ? 'readList' : 'read'}<${record}>(${asked});
  }
`;
  if (!pages) {
    return whole;
  }
  const list = camel(pages.name);
  const loop = `for await (const ${list.slice(0, -1)} of gateway.${list}(…))`;
  return `${whole}
  /** The ${pages.name} of a ${pages.of}, read page by page: \`${loop}\`. */
  ${list}(${given}options: PagedOptions = {}): Paged<${record}> {
    return this.#reader.pages<${record}>(${asked});
  }
`;
}

function groupsOf(reads: readonly Read[]): string[] {
  return [...new Set(reads.map(({ group }) => group))].sort();
}

function recordsOf(reads: readonly Read[]): string[] {
  return [...new Set(reads.map(({ record }) => record))].filter((record) => record !== 'string').sort();
}

/** The class of the generated client, in TypeScript and Python. */
function apiOf(group: string): string {
  return `${pascal(group)}Api`;
}

function privateOf(group: string): string {
  return `#${camel(group.toLowerCase())}`;
}

function goModels(models: readonly Model[]): string {
  const enumerations = models.filter(({ values }) => values.length > 0);
  const constants = enumerations.map(({ name, values }) => {
    const names = values.map((value) => name + pascal(value.toLowerCase()));
    return `\n// The values of ${name} known to this release.\nconst (\n${goAliases(names)})\n`;
  });
  return `${GO_BANNER}
package sdk

import "integration.example.com/sdk/gateway"

// The records of the gateway. Members that may be null have a Get, which returns nil then.
type (
${goAliases(models.map(({ name }) => name))})

// Client is another name, which earlier releases have.
type Client = TenantClient
${constants.join('')}`;
}

function goAliases(names: readonly string[]): string {
  const width = Math.max(...names.map(({ length }) => length));
  return names.map((name) => `\t${name.padEnd(width)} = gateway.${name}\n`).join('');
}

function goRead({ operation, name, sentence, group, inPath, inQuery, record, isList, pages }: Read): string {
  const method = pascal(name);
  const type = `${isList ? '[]' : '*'}${record}`;
  const given = [...inPath, ...inQuery].map(goName).join(', ');
  const parameters = `ctx context.Context${given && `, ${given} string`}`;
  const query = inQuery.map((parameter) => `.${pascal(parameter)}(${goName(parameter)})`).join('');
  const request = `api.${pascal(group)}API.${pascal(operation)}(${['ctx', ...inPath.map(goName)].join(', ')})${query}`;
  const said = sentence.replace(/`(\w+)`/g, (_, word: string) => pascal(word));
  const comment = `// ${method} returns ${said.charAt(0).toLowerCase()}${said.slice(1)}`;
  const read = `
${comment}
func (g *Gateway) ${method}(${parameters}) (${type}, error) {
	return dataOf(g.IfChanged("").${method}(ctx${given && `, ${given}`}))
}

${comment}
func (c Conditional) ${method}(${parameters}) (Reading[${type}], error) {
	return conditionally(c.etag, c.gateway.${request})
}
`;
  if (!pages) {
    return read;
  }
  return `${read}
// ${pascal(pages.name)} reads the ${pages.name} of a ${pages.of}, page by page.
func (g *Gateway) ${pascal(pages.name)}(${parameters}) Sequence[${record}] {
	return paged(ctx, g, g.${request}.Limit(g.pageSize).Execute)
}
`;
}

function goName(parameter: string): string {
  return parameter.replace(/Id$/, 'ID');
}

function pascal(words: string): string {
  return words.replace(/(?:^|[\s_-])+(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function pythonModels(names: readonly string[]): string {
  return `${BANNER.replace('//', '#')}"""The records of the gateway. Attributes are in snake case: \`\`worker.first_name\`\`."""

from integration_gateway import ${names.join(', ')}

Client = TenantClient
"""Another name, which earlier releases have."""

__all__ = [${[...names, 'Client']
    .sort()
    .map((name) => `"${name}"`)
    .join(', ')}]
`;
}

function pythonReads(reads: readonly Read[]): string {
  const groups = groupsOf(reads);
  return `${BANNER.replace('//', '#')}"""The reads of the gateway."""

from __future__ import annotations

from functools import partial
from typing import overload

from integration_gateway import ${[...groups.map(apiOf), ...recordsOf(reads)].sort().join(', ')}
from pydantic import TypeAdapter

from ._exchange import time_limit
from ._reader import DEFAULT_PAGE_SIZE, NOT_ASKED, GatewayClient, NotAsked, Paged, Reading

${reads.map((read) => `${adapterOf(read)} = TypeAdapter(${pythonType(read)})\n`).join('')}

class Reads:
    def __init__(self, client: GatewayClient) -> None:
        self._client = client
${groups.map((group) => `        self._${snake(group)} = ${apiOf(group)}(client)\n`).join('')}${reads.map(pythonRead).join('')}`;
}

function pythonRead(read: Read): string {
  const { operation, name, sentence, group, inPath, inQuery, pages } = read;
  const method = snake(name);
  const type = pythonType(read);
  const names = [...inPath, ...inQuery].map(snake);
  const given = ['self', ...names.map((parameter) => `${parameter}: str`), '*'].join(', ');
  const perCall = 'timeout_seconds: float | None = None, request_id: str | None = None';
  const ask = [
    `ask = partial(self._${snake(group)}.${snake(operation)}_without_preload_content`,
    ...names.map((parameter) => `${parameter}=${parameter}`),
    'x_request_id=request_id',
    '_request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds)',
  ].join(', ');
  const said = sentence.replace(/`(\w+)`/g, (_, word: string) => `\`\`${snake(word)}\`\``);
  const whole = `
    @overload
    def ${method}(${given}, ${perCall}) -> ${type}: ...

    @overload
    def ${method}(${given}, if_changed: str | None, ${perCall}) -> Reading[${type}]: ...

    def ${method}(
        ${given}, if_changed: str | None | NotAsked = NOT_ASKED, ${perCall}
    ) -> ${type} | Reading[${type}]:
        """${said}"""
        ${ask})
        return self._client.read(${adapterOf(read)}, ask, if_changed)
`;
  if (!pages) {
    return whole;
  }
  const list = snake(pages.name);
  return `${whole}
    def ${list}(${given}, page_size: int = DEFAULT_PAGE_SIZE, ${perCall}) -> Paged[${pythonRecord(read)}]:
        """The ${pages.name} of a ${pages.of}, read page by page: \`\`for ${list.slice(0, -1)} in gateway.${list}(…)\`\`."""
        ${ask}, limit=page_size)
        return Paged(lambda url: self._client.page(${adapterOf(read)}, ask, request_id, timeout_seconds, url))
`;
}

/** The reader of the answers of an operation. */
function adapterOf({ operation }: Read): string {
  return snake(operation).toUpperCase();
}

function pythonType(read: Read): string {
  return read.isList ? `list[${pythonRecord(read)}]` : pythonRecord(read);
}

function pythonRecord({ record }: Read): string {
  return record === 'string' ? 'str' : record;
}

function snake(name: string): string {
  return name.replace(/(?<=[a-z\d])(?=[A-Z])|[\s-]/g, '_').toLowerCase();
}
