import { Command, type ErrorOptions, type HelpContext } from 'commander';

const MISSING = ['commander.missingArgument', 'commander.missingMandatoryOptionValue'];

/** Says all that is wrong in one message, where commander stops at the first fault or shows only its help. */
export class WholeCommand extends Command {
  override createCommand(name?: string): WholeCommand {
    return new WholeCommand(name);
  }

  /**
   * Commander shows the help of the command above if there is none of that name, and does not say so. Of
   * `help key rotate` it reads only the first name.
   */
  override help(given?: HelpContext | ((text: string) => string)): never {
    const context = given as HelpContext | undefined;
    const [verb, name] = this.args;
    if (verb === 'help' && name !== undefined && context?.error) {
      return this.error(`error: unknown command '${name}'`);
    }
    const [asked, , ...names] = this.parent?.args ?? [];
    return asked === 'help' ? this.#helpOf(names) : super.help(context);
  }

  #helpOf([name, ...names]: readonly string[]): never {
    if (name === undefined) {
      return super.help();
    }
    const verb = this.commands.find((command) => command.name() === name);
    return verb instanceof WholeCommand
      ? verb.#helpOf(names)
      : this.error(`error: unknown command '${name}'`);
  }

  override error(message: string, options?: ErrorOptions): never {
    const names = this.registeredArguments
      .filter(({ required }, index) => required && this.args[index] === undefined)
      .map((argument) => argument.name());
    const flags = this.options
      .filter((option) => option.mandatory && this.getOptionValue(option.attributeName()) === undefined)
      .map((option) => option.flags);
    if (!MISSING.includes(options?.code ?? '') || names.length + flags.length < 2) {
      return super.error(message, options);
    }
    const missing = [...named('argument', names), ...named('option', flags)].join(' and ');
    return super.error(`error: missing ${missing}`, options);
  }
}

function named(noun: string, names: readonly string[]): string[] {
  const quoted = names.map((name) => `'${name}'`).join(', ');
  return names.length === 0 ? [] : [`required ${noun}${names.length === 1 ? '' : 's'} ${quoted}`];
}
