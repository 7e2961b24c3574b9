import * as directoryRoots from './0001-directory-roots.js';
import * as directory from './0002-directory.js';
import * as operator from './0003-operator.js';
import * as signOn from './0004-sign-on.js';
import * as boundedSignOn from './0008-bounded-sign-on.js';
import * as emailChanges from './0009-email-changes.js';
import * as auditChains from './0011-audit-chains.js';
import * as encryptionKeys from './0013-encryption-keys.js';
import * as endsOfGrants from './0014-ends-of-grants.js';
import * as contractEmails from './0017-contract-emails.js';
import * as contextsOfSessions from './0019-contexts-of-sessions.js';
import * as linksOfApplications from './0020-links-of-applications.js';
import * as waysIn from './0021-ways-in.js';
import * as runsOfMaintenance from './0023-runs-of-maintenance.js';
import * as issuers from './0026-issuers.js';
import * as sequenceOfChanges from './changes/0030-sequence-of-changes.js';
import * as livesOfServers from './changes/0034-lives-of-servers.js';
import * as presentChanges from './changes/0037-present-changes.js';
import * as serviceTokens from './credentials/0010-service-tokens.js';
import * as tokenLines from './credentials/0015-token-lines.js';
import * as expiryWarnings from './credentials/0024-expiry-warnings.js';
import * as rotations from './credentials/0039-rotations.js';
import * as sharedMailboxes from './directory/0033-shared-mailboxes.js';
import * as presentMembers from './directory/0036-present-members.js';
import * as beginningsOfAddresses from './directory/0038-beginnings-of-addresses.js';
import * as callCounts from './nodes/0027-call-counts.js';
import * as endsOfMaintenance from './nodes/0028-ends-of-maintenance.js';
import * as requiredMigrations from './nodes/0032-required-migrations.js';
import type { Step } from './step.js';
import * as webhooks from './webhooks/0005-webhooks.js';
import * as orderOfEvents from './webhooks/0012-order-of-events.js';
import * as laterAttempts from './webhooks/0016-later-attempts.js';
import * as sequences from './webhooks/0018-sequences.js';
import * as requestsOfEvents from './webhooks/0022-requests-of-events.js';
import * as tracesOfEvents from './webhooks/0025-traces-of-events.js';
import * as vacuumOfDeliveries from './webhooks/0035-vacuum-of-deliveries.js';

/**
 * By name. What a released migration runs is never edited. Nodes of the release before serve the database
 * after it, unless the migration says what they are `required` to know.
 */
export const migrations: Record<string, Step> = {
  '0001-directory-roots': directoryRoots,
  '0002-directory': directory,
  '0003-operator': operator,
  '0004-sign-on': signOn,
  '0005-webhooks': webhooks,
  '0008-bounded-sign-on': boundedSignOn,
  '0009-email-changes': emailChanges,
  '0010-service-tokens': serviceTokens,
  '0011-audit-chains': auditChains,
  '0012-order-of-events': orderOfEvents,
  '0013-encryption-keys': encryptionKeys,
  '0014-ends-of-grants': endsOfGrants,
  '0015-token-lines': tokenLines,
  '0016-later-attempts': laterAttempts,
  '0017-contract-emails': contractEmails,
  '0018-sequences': sequences,
  '0019-contexts-of-sessions': contextsOfSessions,
  '0020-links-of-applications': linksOfApplications,
  '0021-ways-in': waysIn,
  '0022-requests-of-events': requestsOfEvents,
  '0023-runs-of-maintenance': runsOfMaintenance,
  '0024-expiry-warnings': expiryWarnings,
  '0025-traces-of-events': tracesOfEvents,
  '0026-issuers': issuers,
  '0027-call-counts': callCounts,
  '0028-ends-of-maintenance': endsOfMaintenance,
  '0030-sequence-of-changes': sequenceOfChanges,
  '0032-required-migrations': requiredMigrations,
  '0033-shared-mailboxes': sharedMailboxes,
  '0034-lives-of-servers': livesOfServers,
  '0035-vacuum-of-deliveries': vacuumOfDeliveries,
  '0036-present-members': presentMembers,
  '0037-present-changes': presentChanges,
  '0038-beginnings-of-addresses': beginningsOfAddresses,
  '0039-rotations': rotations,
};

export const newestMigration = Object.keys(migrations).at(-1) as string;
