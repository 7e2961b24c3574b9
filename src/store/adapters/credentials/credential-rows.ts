import type { CredentialRows } from '../../../domain/credentials/end-access.js';
import type { Writer } from '../../database.js';
import { emailChangeRows } from './email-changes.js';
import { grantRows } from './grants.js';
import { linkRows } from './links.js';
import { noticeRows } from './notices.js';
import { passwordRows } from './passwords.js';
import { sessionRows } from './sessions.js';

export function credentialRows(db: Writer): CredentialRows {
  return {
    passwords: passwordRows(db),
    links: linkRows(db),
    emailChanges: emailChangeRows(db),
    notices: noticeRows(db),
    sessions: sessionRows(db),
    grants: grantRows(db),
  };
}
