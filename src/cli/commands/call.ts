import type { Command } from 'commander';
import type { CallOptions } from './call-method.js';

const EXAMPLES = `
Address and token come from $DATA_DIR/demo.json of the demo environment unless they are given.

Examples:
  $ integration call                                   every service and method, by reflection
  $ integration call Operator/ListIntegrations
  $ integration call Platform/UpdateUser '{"userId": "usr_…", "firstName": "Ada"}'
  $ integration call --address grpc.example.com:4002 --token "$TOKEN" --ca ca.pem`;

export function addCallCommand(program: Command): void {
  program
    .command('call')
    .description('Call any gRPC method, or list them all')
    .argument('[method]', 'Service/Method; the package and the word Service may be left out')
    .argument('[json]', 'the request as JSON', '{}')
    .option('--address <host:port>', 'where the domain listens')
    .option('--token <token>', 'operator or platform token')
    .option('--ca <file>', 'authority that vouches for the server, beyond loopback')
    .addHelpText('after', EXAMPLES)
    .action(async (method: string | undefined, json: string, options: CallOptions) => {
      // gRPC and its loader are slow to load, and no other command needs them.
      const { call } = await import('./call-method.js');
      await call(method, json, options);
    });
}
