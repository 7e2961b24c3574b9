import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type DescEnum,
  type DescExtension,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  getOption,
} from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { BANNER } from '../layout.js';
import { registryIn } from './proto.js';

/** Options of the contract -> the rights of methods, and sets of methods. */
export async function generateRights(outDir: string): Promise<void> {
  await writeFile(join(outDir, 'proto/rights.ts'), rightsTable(await registryIn(outDir)));
}

function rightsTable(registry: FileRegistry): string {
  const right = registry.getEnum('integration.access.v1.Right') as DescEnum;
  const allowed = registry.getExtension('integration.access.v1.allowed') as DescExtension;
  const inService = registry.getExtension('integration.access.v1.allowed_in_service') as DescExtension;
  const nameOf = (number: number) => (right.value[number]?.localName ?? '').toLowerCase();
  const rights = right.values.filter(({ number }) => number !== 0).map(({ number }) => nameOf(number));
  const services = [...registry].filter((one) => one.kind === 'service');
  const lines = services.flatMap((service) =>
    service.methods.map((method) => {
      const numbers = [
        ...(getOption(service, inService) as number[]),
        ...(getOption(method, allowed) as number[]),
      ];
      const names = numbers.map((number) => `'${nameOf(number)}'`);
      return `  '/${service.typeName}/${method.name}': [${names.join(', ')}],`;
    }),
  );
  const within = registry.getExtension('integration.access.v1.within_instance') as DescExtension;
  const personal = registry.getExtension('integration.access.v1.personal_data') as DescExtension;
  const setOf = (name: string, about: string, isSuch: (method: DescMethod) => boolean) => {
    const paths = services.flatMap(({ typeName, methods }) =>
      methods.filter(isSuch).map((method) => `  '/${typeName}/${method.name}',`),
    );
    return `/** ${about} */\nexport const ${name}: ReadonlySet<string> = new Set([\n${paths.sort().join('\n')}\n]);\n`;
  };
  return [
    BANNER,
    `/** What a token lets its holder do. */\nexport const rights = [\n${rights.map((name) => `  '${name}',`).join('\n')}\n] as const;\n`,
    'export type Right = (typeof rights)[number];\n',
    `/** Who may call each method, by its path. */\nexport const allowedRights = {\n${lines.sort().join('\n')}\n} as const satisfies Record<string, readonly Right[]>;\n`,
    setOf(
      'methodsWithinInstance',
      'The methods that tokens of one instance may call.',
      (method) => getOption(method, within) === true,
    ),
    setOf(
      'personalAnswers',
      'The methods whose answers contain a message that is declared as personal data.',
      ({ output }) => contains(output, (message) => getOption(message, personal) === true),
    ),
    setOf(
      'repeatableMethods',
      'The methods that are declared as safe to repeat, by the option idempotency_level.',
      ({ idempotency }) => idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN,
    ),
  ].join('\n');
}

/** Whether the message, or one nested in it, passes the test. */
function contains(
  message: DescMessage,
  isSuch: (message: DescMessage) => boolean,
  seen = new Set<DescMessage>(),
): boolean {
  if (seen.has(message)) {
    return false;
  }
  seen.add(message);
  const inside = message.fields.flatMap((field) => (field.message ? [field.message] : []));
  return isSuch(message) || inside.some((one) => contains(one, isSuch, seen));
}
