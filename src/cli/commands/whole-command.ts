import { Command, type ErrorOptions } from 'commander';

const MISSING_OPTION = 'commander.missingMandatoryOptionValue';

/** Names all missing options in one message, where commander stops at the first. */
export class WholeCommand extends Command {
  override createCommand(name?: string): WholeCommand {
    return new WholeCommand(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    const missing = this.options.filter(
      (option) => option.mandatory && this.getOptionValue(option.attributeName()) === undefined,
    );
    if (options?.code !== MISSING_OPTION || missing.length < 2) {
      return super.error(message, options);
    }
    const flags = missing.map(({ flags }) => `'${flags}'`);
    return super.error(`error: required options ${flags.join(', ')} not specified`, options);
  }
}
