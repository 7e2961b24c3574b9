import { type Command, Option } from 'commander';

/** For every command that calls the domain. A token in the environment shows in no list of processes. */
export function addTargetOptions(command: Command): Command {
  return command
    .addOption(new Option('--address <host:port>', 'where the domain listens').env('INTEGRATION_ADDRESS'))
    .addOption(new Option('--token <token>', 'token to call with').env('INTEGRATION_TOKEN'))
    .addOption(
      new Option(
        '--ca <file>',
        'file of the authority that signed the certificate of the server; for addresses beyond loopback',
      ).env('INTEGRATION_CA'),
    );
}

export const TARGET_NOTE =
  'Address and token come from $DATA_DIR/demo.json of the demo environment unless they are given.';
