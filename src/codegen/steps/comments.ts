import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DescField, type DescMessage, fromBinary } from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { inScratch, mustRun } from '../run-tool.js';

/** What `integration call METHOD --help` may explain: methods, and fields except those of answers. */
const EXPLAINED = /^integration\.(operator|platform|webhooks)\.v1\.(?!\w+Response\.)\w+\.\w*[a-z]\w*$/;

/** Fields that mean the same in every request: explained here, not in each message. */
const COMMON: Readonly<Record<string, string>> = {
  account_id: 'Public id of the account.',
  api_key_id: 'Id of the key.',
  application_id: "The application's client_id.",
  client_id: 'Public id of the client.',
  description: 'What it is for.',
  expected_version: 'The version that the change was decided on.',
  first_name: 'Given name.',
  idempotency_key: 'Makes a repeated call answer as the first one did; at most 255 characters.',
  label: 'What it is for.',
  last_name: 'Family name.',
  location_id: 'Its public id.',
  page_size: 'How many at most.',
  page_token: 'The next_page_token of the previous page of the same list.',
  subscription_id: 'Its public id.',
  unit_code: "The client's own code for it.",
  unit_id: 'Its public id.',
  unit_type_id: 'Its public id.',
  update_mask: 'Which fields to write; those that have a value when absent.',
  user_id: "The user's public id.",
  worker_id: "The worker's public id.",
};

/** Comments in proto/ -> a list by full name. Descriptors with them would be four times as large. */
export function generateComments(outDir: string): Promise<void> {
  return inScratch(async (scratch) => {
    const path = join(scratch, 'with-comments.binpb');
    await mustRun('buf', ['build', 'proto', '-o', path]);
    const { file } = fromBinary(FileDescriptorSetSchema, await readFile(path));
    const comments = Object.fromEntries(file.flatMap(commentsOf).sort());
    await writeFile(join(outDir, 'proto/comments.json'), `${JSON.stringify(comments, null, 2)}\n`);
  });
}

function commentsOf(file: FileDescriptorProto): [name: string, comment: string][] {
  return (file.sourceCodeInfo?.location ?? []).flatMap(({ path, leadingComments }) => {
    const name = nameAt(file, path);
    const comment = leadingComments.replace(/\s+/g, ' ').trim() || COMMON[name?.split('.').at(-1) ?? ''];
    return name && comment && EXPLAINED.test(name) ? [[name, comment] as [string, string]] : [];
  });
}

/** The path is the numbers of fields of the descriptor, each with an index. */
function nameAt(file: FileDescriptorProto, path: readonly number[]): string | undefined {
  const names = [file.package];
  let schema: DescMessage | undefined = FileDescriptorProtoSchema;
  let node: object = file;
  for (let at = 0; at < path.length; at += 2) {
    const field: DescField | undefined = schema?.fields.find(({ number }) => number === path[at]);
    const index = path[at + 1];
    if (field?.fieldKind !== 'list' || index === undefined) {
      return undefined;
    }
    node = (Reflect.get(node, field.localName) as object[])[index] as object;
    names.push((node as { name: string }).name);
    schema = field.message;
  }
  return names.join('.');
}
