import type { AccountContext } from '../../../../../generated/proto/integration/platform/v1/accounts.js';
import type { Address } from '../../../../../generated/proto/integration/platform/v1/clients.js';
import { ErrorCode, ServiceError } from '../../../../errors/service-error.js';
import { UsageError } from '../../errors.js';
import { printableLine } from '../../output/printable.js';
import type { Columns } from '../../output/table.js';
import type { Session, Shown, VerbOptions } from '../session.js';
import { shownList } from '../showing.js';

/** Whose users or workers to list. */
type PeopleFilter = Pick<VerbOptions, 'client' | 'email'>;

type Member = NonNullable<AccountContext['member']>;

/** The users or workers of the person with the address, across clients; none if there is no such person. */
export async function membersWith<T>(
  { platform }: Session,
  { email = '', client }: PeopleFilter,
  read: (member: Member) => Promise<T | undefined>,
): Promise<T[]> {
  const key = { $case: 'email' as const, value: email };
  const { contexts } = await platform.getAccount({ key }).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === ErrorCode.ACCOUNT_NOT_FOUND) {
      return { contexts: [] };
    }
    throw error;
  });
  const members = contexts
    .filter(({ clientId }) => client === undefined || clientId === client)
    .map(({ member }) => member && read(member));
  return (await Promise.all(members)).filter((found) => found !== undefined);
}

export function shownFirst<T>(rows: readonly T[], columns: Columns<T>, limit = rows.length): Shown {
  return shownList(rows.slice(0, limit), columns, rows.length > limit);
}

/** Lists are of one client. */
export function neededClient({ client }: PeopleFilter): string {
  if (client === undefined) {
    throw new UsageError('Give --client with the id of a client, or --email with the address of a person.');
  }
  return client;
}

export function addressLine(address: Address | undefined): string {
  const { address1, address2, postalCode, city, zoneCode, isoCountryCode } = address ?? {};
  const parts = [address1, address2, postalCode, city, zoneCode, isoCountryCode];
  return printableLine(parts.filter((part) => part !== undefined).join(', ')) || '-';
}
