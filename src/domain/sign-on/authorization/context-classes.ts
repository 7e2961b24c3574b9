/** The `acr` of every sign-in: a password, sent over TLS (OASIS SAML 2.0 Authentication Context, 3.4.4). */
export const CONTEXT_CLASS = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';
