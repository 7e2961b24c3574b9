import type { Command } from 'commander';
import { addTargetOptions, TARGET_NOTE } from './options.js';
import type { TargetOptions } from './target.js';

type CallOptions = TargetOptions & { help?: boolean };

const EXAMPLES = `
${TARGET_NOTE}

Examples:
  $ integration call                                   every service and method, by reflection
  $ integration call Platform/UpdateUser --help        the fields of its request
  $ integration call Operator/ListIntegrations
  $ integration call Platform/UpdateUser '{"userId": "usr_…", "firstName": "Ada"}'
  $ integration call Platform/SetPassword - < password.json
  $ INTEGRATION_TOKEN_FILE=operator.token integration call --address grpc.example.com:4002 --ca ca.pem`;

export function addCallCommand(program: Command): void {
  addTargetOptions(program.command('call'))
    .description('Call any gRPC method, or list them all')
    .argument('[method]', 'Service/Method, or the method alone')
    .argument('[json]', 'the request as JSON, or - to read it from standard input', '{}')
    .helpOption(false)
    .option('-h, --help', 'show this help; after a method, the fields of its request')
    .addHelpText('after', EXAMPLES)
    .action(async (method: string | undefined, json: string, options: CallOptions, command: Command) => {
      if (options.help) {
        if (method === undefined) {
          return command.help();
        }
        const { printHelpOf } = await import('./call-help.js');
        return printHelpOf(method);
      }
      // gRPC and its loader are slow to load; no other command needs them.
      const { call } = await import('./call-method.js');
      await call(method, json, options);
    });
}
