// Made by `make generate` from the contracts. Do not edit.
export interface paths {
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the public keys
         * @description The keys that verify the signatures of our tokens (RFC 7517). A key is published before it signs, and stays until
         *     the last token it signed is over, so a copy kept as long as `Cache-Control` says suffices. After a leak it is
         *     different: the key leaves at once, and its successor signs at once.
         *     Choose the key by the token's `kid`.
         */
        get: operations["jwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/openid-configuration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the discovery document
         * @description What this server can do and where its endpoints are (OpenID Connect Discovery 1.0, RFC 8414). Client libraries
         *     configure themselves from it. It changes rarely: keep it as long as `Cache-Control` says.
         */
        get: operations["discovery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Start a sign-in
         * @description Send the browser here. It is a navigation, not a call for programs.
         *     Where the browser says that this is not a navigation (`Sec-Fetch-Dest`), but a call by `fetch`, a picture or a load
         *     ahead of a click, the answer is an error page (400). In a frame of a page of another site, only a request with
         *     `prompt=none` is answered. Browsers send it without the session, so the answer is `login_required`, also for a person
         *     who is signed in.
         *
         *     The application and its redirect URI are checked first. If one of them is missing, unknown or does not match, or the
         *     query is not percent-encoded UTF-8 or has more than 256 parameters, the answer is an error page (400): the server
         *     never redirects to an address it cannot trust. Everything that is wrong
         *     with the request after that is told to the application by a redirect with `error`, `error_description`, `state` and
         *     `iss`; so is an internal error from then on, as `server_error`, and with `prompt=none` a server that is briefly unable
         *     to answer, as `temporarily_unavailable`. Otherwise too many requests (429) and failures of the server (500, 503) are
         *     told to the person, by a page.
         *     If all is well the browser goes to the first page that is needed (sign in, choose a context, consent), or, if none
         *     is, straight back with `code`, `state` and `iss`. See the webhook `authorization-response` for what arrives at
         *     your redirect URI.
         *
         *     The whole request, encoded as in an address, may have 8000 characters; a longer one is `invalid_request`, and so is
         *     one whose long `state`, `nonce` or `login_hint` leave no room in the address of a page that has to be shown. A public
         *     application whose redirect URI is not `https` needs the consent of the person each time, because other programs
         *     could pose as it; with `prompt=none` it gets no code: `consent_required`, if no other error comes first.
         */
        get: operations["authorize"];
        put?: never;
        /**
         * Start a sign-in with a form
         * @description The same as `GET /auth/authorize` with the parameters in a form. Browsers send no session cookie with a form of
         *     another site, so its parameters are asked for again by address; if that is longer than 8,000 characters, an error
         *     page says so.
         */
        post: operations["authorizePost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel
         * @description Sends the browser back to the application with `access_denied`: the person cancelled, or has no access on the
         *     instance. What ended the sign-in before comes first: `unauthorized_client`, `invalid_scope` or `login_required`.
         */
        post: operations["cancelSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/change-email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the page that takes a new email address
         * @description Where the link mailed to a new address leads. Opening it changes nothing yet.
         */
        get: operations["showChangeEmail"];
        put?: never;
        /**
         * Take a new email address
         * @description Takes the secret of the link and the password of the account. From now on the person signs in with the new
         *     address, which is verified; their sessions and grants end. The answer is 303: to `/auth/email-changed`, or back to
         *     the same page with `problem`, which is the same for a wrong password and for an account without one.
         */
        post: operations["changeEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/choose-context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the contexts to choose from
         * @description For a person who is several users or workers on the instance, or who is only invited there and has a session.
         *     A sign-in that has come to its end leads on; with `form_post` the answer to the application is then a page with a form (200).
         */
        get: operations["showContexts"];
        put?: never;
        /**
         * Choose a context
         * @description Takes the context, which becomes `lastLoginContext`.
         */
        post: operations["chooseContext"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/consent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what the application will see
         * @description For applications that need the consent of the person. A sign-in that has come to its end leads on; with `form_post`
         *     the answer to the application is then a page with a form (200).
         */
        get: operations["showConsent"];
        put?: never;
        /**
         * Approve or deny
         * @description Takes the decision and leads back to the application. Who does not allow what they allowed before withdraws that: the
         *     tokens and codes of the application for this person on this instance end, and the person is asked again. The page
         *     says so. Nothing is withdrawn if the application asked for more than before. Applications of the operator need no
         *     approval, and keep their tokens.
         */
        post: operations["consent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/email-changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show that the email address has changed
         * @description The end of taking a new address.
         */
        get: operations["showEmailChanged"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/email-verified": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show that the email address is verified
         * @description The end of verifying an address.
         */
        get: operations["showEmailVerified"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/introspect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask whether a token is in force
         * @description Says whether an access or refresh token of your application is in force this moment, and what it stands for
         *     (RFC 7662), as a form or as JSON. For confidential applications. A token that is unknown, over, revoked or
         *     another application's answers `{ "active": false }` and no more.
         */
        post: operations["introspect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * End the session in the browser
         * @description Send the browser here to sign the person out (OpenID Connect RP-Initiated Logout 1.0). With a valid
         *     `id_token_hint` for the person who is signed in, issued since that sign-in, the session ends at once; otherwise a page
         *     asks first, if a person is signed in. Then the browser goes to `post_logout_redirect_uri`, if it is one registered for your application, with `state`; without
         *     one, to a page that says “signed out”. An expired ID token is accepted as a hint; one that cannot be read, such as after
         *     its key was withdrawn, counts as none. A `post_logout_redirect_uri` that is not registered, or that comes without
         *     `client_id` or an `id_token_hint` that can be read, shows an error page. So does an unknown or disabled application,
         *     and a parameter that is repeated or too long. The person then stays signed in.
         */
        get: operations["logout"];
        put?: never;
        /**
         * End the session in the browser, with a form
         * @description The same as `GET /auth/logout` with the parameters in a form. Browsers send no session cookie with a form of
         *     another site, so its parameters are asked for again by address; if that is longer than 8,000 characters, an error
         *     page says so, from which the person can still sign out.
         */
        post: operations["logoutPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password-set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show that the password is set
         * @description The end of setting a password, with the ways to the applications of the person.
         */
        get: operations["showPasswordSet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a token
         * @description Ends a token of your application (RFC 7009), as a form or as JSON, and with it everything that came of the same
         *     sign-in: the whole family of refresh tokens and the access tokens given with them. Send the refresh token: an
         *     access token that has expired may end nothing.
         *     The answer is 200 for an unknown, expired or revoked token too.
         *     A public application sends its `client_id` alone, in the body or by HTTP Basic with an empty password.
         */
        post: operations["revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/set-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the page that sets a password
         * @description Where the links of invitations and password resets lead. A link that was used or has expired gets the error
         *     page.
         */
        get: operations["showSetPassword"];
        put?: never;
        /**
         * Set a password
         * @description Takes the new password. The answer is 303: to `/auth/password-set` with `entrances`, or back to the same page with `problem`. A
         *     reset ends the sessions and grants of the person.
         */
        post: operations["setPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the page “Sign in”
         * @description The sign-in page of a sign-in under way. One that has come to its end leads on; with `form_post` the answer to the
         *     application is then a page with a form (200).
         */
        get: operations["showSignIn"];
        put?: never;
        /**
         * Sign in
         * @description Takes email and password. Whether right or wrong the answer is 303: to the next page or back to the
         *     application, or to the same page, which then says what to mend. With `form_post`, the answer to the application is
         *     a page with a form (200). Wrong email and wrong password look alike. A right password sets the cookies also where
         *     the page was answered before (400).
         *     The query in the address of a form is not read: it makes the address that of the form's page.
         */
        post: operations["signIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the page that asks before it signs out
         * @description Shown when a logout came without a valid `id_token_hint` of the present sign-in. The `interaction` of a
         *     sign-in leads on instead; if that has come to its end with `form_post`, to a page with a form (200).
         */
        get: operations["showSignOut"];
        put?: never;
        /**
         * Sign out
         * @description Ends the session and leads back to the application, or to `/auth/signed-out`.
         */
        post: operations["signOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/signed-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Confirm the sign-out
         * @description The end of a logout that has no address to return to.
         */
        get: operations["showSignedOut"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a code, or refresh
         * @description Exchanges an authorization code for tokens, or a refresh token for new ones. The body is JSON, or a form as OAuth
         *     libraries send it; members it does not know are ignored.
         *
         *     A confidential application proves itself with `client_secret` in the body or by HTTP Basic, never both. A public
         *     application sends its `client_id` alone, in the body or by HTTP Basic with an empty password. A failed exchange does
         *     not use up the code; only a repeated one that is right in everything else does harm: it revokes what the code had
         *     given.
         */
        post: operations["token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/userinfo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the claims of the person
         * @description The claims of the person the access token stands for, as the granted scopes allow. The token is checked with the
         *     store: what was revoked or disabled is refused at once. Send the token in the `Authorization` header; in the
         *     address it is refused. `lastLoginContext` and the names are those of the person's newest choice on the instance, in
         *     any browser; an ID token has those of its own sign-in.
         */
        get: operations["userinfo"];
        put?: never;
        /**
         * Read the claims of the person, by POST
         * @description The same as `GET /auth/userinfo`. The access token is in the `Authorization` header or in the form field
         *     `access_token`, never in both.
         */
        post: operations["userinfoPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/verify-email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the page that verifies an email address
         * @description Where the link mailed to an address leads. Opening it verifies nothing yet.
         */
        get: operations["showVerifyEmail"];
        put?: never;
        /**
         * Verify an email address
         * @description Takes the secret of the link; from now on `email_verified` is true. The answer is 303 to
         *     `/auth/email-verified`, also for a form that is sent again, as long as the link has not expired and the address
         *     is verified.
         */
        post: operations["verifyEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "authorization-response": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What arrives at your redirect URI
         * @description The browser comes back to the `redirect_uri` of the authorization request with these query parameters: `code`,
         *     `state` and `iss` if it went well, else `error`, `error_description`, `state` and `iss`. Before you use the code,
         *     compare `state` with the one kept in this browser's session, and `iss` with the issuer URL (RFC 9207).
         */
        get: operations["authorizationResponse"];
        put?: never;
        /**
         * What arrives with form_post
         * @description With `response_mode=form_post` the browser posts the same members as a form, so no address contains the code.
         *     The post comes from our site: keep `state`, `nonce` and `code_verifier` in a `SameSite=None; Secure` cookie, and
         *     exempt this path from your CSRF check (`state` protects it). Answer with a redirect, so that a reload does not
         *     post again. In a frame, our page is shown only for a request with `prompt=none`.
         */
        post: operations["authorizationResponsePost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * AccessToken
         * @description An access token: a JWT (RFC 9068) for this server. Send it as `Authorization: Bearer <ACCESS_TOKEN>` and treat it as
         *     opaque.
         * @example eyJhbGciOiJFUzI1NiIsImtpZCI6ImhsbGtlZU9nRlhFUmpYNjBoR3FBNEwwemlXRnFpam9xU0U1d0Y1UXNaa2MiLCJ0eXAiOiJhdCtqd3QifQ.eyJpc3MiOiJodHRwczovL3NpZ24tb24uZXhhbXBsZS5jb20iLCJzdWIiOiJhY2NfRVVnWTNIelhNZDhLYTR5SU00ZzVVRiIsImF1ZCI6Imh0dHBzOi8vc2lnbi1vbi5leGFtcGxlLmNvbSIsImNsaWVudF9pZCI6ImFwcF9HUmlOZEUyc3ZKNlVqMWg1cVdWc1lJIiwiZXhwIjoxNzgyODIwODAwLCJpYXQiOjE3ODI4MTcyMDAsImp0aSI6IjVUZldxMGNZYkxtOFJ6S3gzTnZIZFAiLCJzY29wZSI6Im9wZW5pZCBwcm9maWxlIGVtYWlsIiwiZ3JhbnRfaWQiOiJjdUZFRVotbnQtSldZMkFvNnc0SjRnIn0.885mtDZAta7TbxSKJz_BG2nFk_Naklt2nO7wx_anpjtVBqrPkD7u_h8UzNz39_nsKpOFLMKHQkXjJtEcK_xadQ
         */
        AccessToken: string;
        /**
         * AccessTokenClaims
         * @description What an access token says (RFC 9068), for information: the token is for this server, and its content can grow. Its
         *     header has `typ` `at+jwt`, so it cannot be mistaken for an ID token.
         */
        AccessTokenClaims: {
            /**
             * Format: uri
             * @description For whom the token is: this server, so the same as `iss`.
             * @example https://sign-on.example.com
             */
            aud: string;
            /** @description The application the token was issued to. */
            client_id: components["schemas"]["ApplicationId"];
            /**
             * Format: int64
             * @description Expiry, in seconds since 1970.
             * @example 1782820800
             */
            exp: number;
            /**
             * @description Opaque id of the grant the token belongs to; all tokens of one sign-in share it.
             * @example cuFEEZ-nt-JWY2Ao6w4J4g
             */
            grant_id?: string;
            /**
             * Format: int64
             * @description When the token was issued, in seconds since 1970.
             * @example 1782817200
             */
            iat: number;
            /**
             * Format: uri
             * @description Issuer URL of the sign-on server.
             * @example https://sign-on.example.com
             */
            iss: string;
            /**
             * @description Id of the token.
             * @example 5TfWq0cYbLm8RzKx3NvHdP
             */
            jti: string;
            /**
             * @description The granted scopes, separated by spaces.
             * @example openid profile email
             */
            scope: string;
            /** @description The person. */
            sub: components["schemas"]["AccountId"];
        };
        /**
         * AccountId
         * @description Public id of an account: the person who signs in, who may be several users and workers. The `sub` of tokens.
         * @example acc_ZPR2n2yhN9OcoAw3z56sSb
         */
        AccountId: `acc_${string}`;
        /**
         * ApplicationId
         * @description Public id of an application registered for sign-on. Its `client_id`.
         * @example app_ezZQ5TF4PDQn5WnW3wXgih
         */
        ApplicationId: `app_${string}`;
        /**
         * AuthorizationCode
         * @description An authorization code. Opaque, single use, valid for 10 minutes.
         * @example kTmAy0IngJVyw9QKvhdKQPU__LhboUjX8ItW9fJA0jQ
         */
        AuthorizationCode: string;
        /**
         * AuthorizationCodeGrant
         * @description Exchange an authorization code.
         */
        AuthorizationCodeGrant: {
            /** @description Your application. */
            client_id: components["schemas"]["ApplicationId"];
            /** @description Required for confidential applications, unless HTTP Basic carries it. Public applications have none. */
            client_secret?: components["schemas"]["ClientSecret"];
            /** @description The `code` that came to your redirect URI. */
            code: components["schemas"]["AuthorizationCode"];
            /** @description Required if the authorization request had a `code_challenge`, refused if it had none. */
            code_verifier?: components["schemas"]["CodeVerifier"];
            /**
             * @description Which grant this is. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            grant_type: "authorization_code";
            /**
             * Format: uri
             * @description The `redirect_uri` of the authorization request, identical.
             * @example https://app.example.com/callback
             */
            redirect_uri: string;
        };
        /**
         * AuthorizationForm
         * @description The parameters of an authorization request, as a form.
         */
        AuthorizationForm: {
            /**
             * @description Authentication context classes you would like. Not enforced; `acr` of the ID token says which class was used.
             * @example urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport
             */
            acr_values?: string;
            /**
             * @description Single claims to return, as the JSON of OpenID Connect Core section 5.5, within what your scopes allow. Each ID
             *     token has `acr` and `auth_time`. An essential `acr` that asks only for values outside `acr_values_supported` is
             *     refused with `access_denied`.
             * @example {"id_token":{"acr":{"essential":true}}}
             */
            claims?: string;
            /**
             * @description Preferred languages of the claims. Accepted; claims have no language.
             * @example en
             */
            claims_locales?: string;
            /** @description Your application. */
            client_id: components["schemas"]["ApplicationId"];
            /**
             * @description BASE64URL(SHA256(`code_verifier`)), 43 characters. Recommended; required for public applications and for
             *     those registered to require PKCE.
             */
            code_challenge?: components["schemas"]["CodeChallenge"];
            /** @description Must be `S256`. Required with `code_challenge`. */
            code_challenge_method?: components["schemas"]["CodeChallengeMethod"];
            /**
             * @description `page`, `popup`, `touch` or `wap`. Accepted; the pages adapt by themselves.
             * @example page
             */
            display?: string;
            /**
             * @description An ID token this server gave your application earlier, expired or not. With `prompt=none` the answer is
             *     `login_required` if someone else is signed in, or if the token cannot be read, such as after its key was
             *     withdrawn; otherwise one that cannot be read is ignored. One of another application is `invalid_request`.
             */
            id_token_hint?: components["schemas"]["IdToken"];
            /**
             * @description The email address to fill in on the sign-in page.
             * @example maria.keller@northwind.example.com
             */
            login_hint?: string;
            /**
             * @description Seconds since the person last gave their password; if it is longer ago they sign in again. The person
             *     can remove the parameter in the browser, so compare `auth_time` of the ID token too.
             * @example 3600
             */
            max_age?: number;
            /**
             * @description An opaque value that comes back in the ID token and ties it to this browser. Recommended.
             * @example n-0S6_WzA2MjrJ8kQe
             */
            nonce?: string;
            /**
             * @description What to show, separated by spaces: `none` (no page at all: an error if one is needed; stands alone),
             *     `login` (sign in again), `consent` (ask again to allow access), `select_account` (choose who to be).
             *     A person who has to choose a context does so once in a session for each instance; `login` and
             *     `select_account` ask again.
             * @example login
             */
            prompt?: string;
            /**
             * Format: uri
             * @description Where the browser comes back to. It must be one of the redirect URIs registered for your application,
             *     equal in protocol, domain, path and port. It also says which instance the sign-in is for.
             * @example https://app.example.com/callback
             */
            redirect_uri: string;
            /**
             * @description Request objects are not supported: the answer is `request_not_supported`.
             * @example eyJhbGciOiJub25lIn0.eyJyZXNwb25zZV90eXBlIjoiY29kZSJ9.
             */
            request?: string;
            /**
             * @description Request objects by reference are not supported: the answer is `request_uri_not_supported`.
             * @example https://app.example.com/request.jwt
             */
            request_uri?: string;
            /**
             * @description How the answer comes back. `query` (the default): in the address. `form_post`: the browser posts it, errors too,
             *     to your redirect URI (OAuth 2.0 Form Post Response Mode), which must be `https` or `http`; `state` must have no
             *     line breaks. Any other mode: `invalid_request`, in the query.
             * @example query
             * @example form_post
             */
            response_mode?: string;
            /** @description Must be `code`. Another value is `unsupported_response_type`. */
            response_type: components["schemas"]["ResponseType"];
            /**
             * @description Scopes, separated by spaces: `openid`, `profile`, `email`. One that is not registered for your application
             *     is `invalid_scope`, as is a request without any.
             * @example openid profile email
             */
            scope: string;
            /**
             * @description Recommended. An opaque value, returned unchanged; compare it when the browser comes back.
             * @example CqI6pyvXbg_E8lvx2gq5VA
             */
            state?: string;
            /**
             * @description Preferred languages of the pages, separated by spaces, best first. Languages that are not supported are
             *     passed over.
             * @example de-CH en
             */
            ui_locales?: string;
        };
        /**
         * CancelForm
         * @description The form of the button “Cancel” of the page “Sign in”.
         */
        CancelForm: {
            /** @description Ties the form to the browser it was shown in. */
            csrf_token: components["schemas"]["CsrfToken"];
            /** @description The sign-in under way, as in the address of the page. */
            interaction: components["schemas"]["Interaction"];
        };
        /**
         * ChangeEmailForm
         * @description The form of the page that takes a new email address.
         */
        ChangeEmailForm: {
            /**
             * Format: password
             * @description The password of the account.
             * @example correct horse battery staple
             */
            password: string;
            /** @description The secret of the mailed link. */
            token: components["schemas"]["LinkToken"];
        };
        /**
         * ChooseContextForm
         * @description The form of the page that lists the contexts.
         */
        ChooseContextForm: {
            /**
             * @description The chosen context: user type and client, joined by a colon.
             * @example USER:cli_x9sS1bFSklla6YZ7pnS811
             */
            context: string;
            /** @description Ties the form to the browser it was shown in. */
            csrf_token: components["schemas"]["CsrfToken"];
            /** @description The sign-in or sign-out under way, as in the address of the page. */
            interaction: components["schemas"]["Interaction"];
        };
        /**
         * ClientId
         * @description Public id of a client: a tenant of an instance.
         * @example cli_4Fqnh5226raKAAEIfY2jwW
         */
        ClientId: `cli_${string}`;
        /**
         * ClientSecret
         * Format: password
         * @description The secret of a confidential application, as shown when it was made. It carries its environment.
         * @example cs_live_3vQ8mTzK1xWbN6pRdY9sLcHf4GjUeA7oZiXtV2nMqBkR5wPy
         */
        ClientSecret: string;
        /**
         * CodeChallenge
         * @description BASE64URL(SHA256(`code_verifier`)), without padding. The last of its 43 characters is one of `AEIMQUYcgkosw048`.
         * @example E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
         */
        CodeChallenge: string;
        /**
         * CodeChallengeMethod
         * @description How the code challenge is made from the verifier. `plain` is refused.
         * @example S256
         * @enum {string}
         */
        CodeChallengeMethod: "S256";
        /**
         * CodeVerifier
         * @description The random string whose hash was the `code_challenge`.
         * @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
         */
        CodeVerifier: string;
        /**
         * ConsentForm
         * @description The form of the page “Allow access”.
         */
        ConsentForm: {
            /** @description Ties the form to the browser it was shown in. */
            csrf_token: components["schemas"]["CsrfToken"];
            /**
             * @description The button that was pressed: `approve`, or `deny`, which tells the application `access_denied`.
             * @example approve
             * @enum {string}
             */
            decision: "approve" | "deny";
            /** @description The sign-in or sign-out under way, as in the address of the page. */
            interaction: components["schemas"]["Interaction"];
        };
        /**
         * CsrfToken
         * @description Opaque value that ties a form to the browser it was shown in.
         * @example X_2Hi8wjTaPDhZ6BZZtHvBRrezy8RgQqvLblf2KsX5c
         */
        CsrfToken: string;
        /**
         * DiscoveryDocument
         * @description What this server can do (OpenID Connect Discovery 1.0, RFC 8414). More members may be added.
         */
        DiscoveryDocument: {
            /**
             * @description The values of `acr` in ID tokens. The present one says that the person gave a password, over TLS on live.
             * @example [
             *       "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"
             *     ]
             */
            acr_values_supported?: string[];
            /**
             * Format: uri
             * @description Address of `authorize`.
             * @example https://sign-on.example.com/auth/authorize
             */
            authorization_endpoint: string;
            /**
             * @description Whether each answer to an authorization carries `iss` (RFC 9207). Always true.
             * @example true
             */
            authorization_response_iss_parameter_supported: boolean;
            /**
             * @description Only `normal`.
             * @example [
             *       "normal"
             *     ]
             */
            claim_types_supported: string[];
            /**
             * @description Whether the parameter `claims` is supported. Always true.
             * @example true
             */
            claims_parameter_supported: boolean;
            /**
             * @description The claims that ID tokens and userinfo can have.
             * @example [
             *       "iss",
             *       "sub",
             *       "aud",
             *       "exp",
             *       "iat",
             *       "auth_time",
             *       "nonce",
             *       "acr",
             *       "at_hash",
             *       "name",
             *       "firstName",
             *       "lastName",
             *       "given_name",
             *       "family_name",
             *       "email",
             *       "email_verified",
             *       "workerProfileId",
             *       "userIds",
             *       "workerIds",
             *       "lastLoginContext"
             *     ]
             */
            claims_supported: string[];
            /**
             * @description Only `S256`.
             * @example [
             *       "S256"
             *     ]
             */
            code_challenge_methods_supported: string[];
            /**
             * @description The values of `display` that are accepted.
             * @example [
             *       "page",
             *       "popup",
             *       "touch",
             *       "wap"
             *     ]
             */
            display_values_supported: string[];
            /**
             * Format: uri
             * @description Address of `logout`.
             * @example https://sign-on.example.com/auth/logout
             */
            end_session_endpoint: string;
            /**
             * @description What `token` exchanges.
             * @example [
             *       "authorization_code",
             *       "refresh_token"
             *     ]
             */
            grant_types_supported: string[];
            /**
             * @description Algorithms of ID tokens. RS256 unless your application is registered for another.
             * @example [
             *       "RS256",
             *       "ES256",
             *       "EdDSA"
             *     ]
             */
            id_token_signing_alg_values_supported: string[];
            /**
             * Format: uri
             * @description Address of `introspect`.
             * @example https://sign-on.example.com/auth/introspect
             */
            introspection_endpoint: string;
            /**
             * @description How applications authenticate at `introspect`.
             * @example [
             *       "client_secret_basic",
             *       "client_secret_post"
             *     ]
             */
            introspection_endpoint_auth_methods_supported: string[];
            /**
             * Format: uri
             * @description Issuer URL of this server: the `iss` of its tokens and answers.
             * @example https://sign-on.example.com
             */
            issuer: string;
            /**
             * Format: uri
             * @description Address of `jwks`.
             * @example https://sign-on.example.com/.well-known/jwks.json
             */
            jwks_uri: string;
            /**
             * @description The values of `prompt`.
             * @example [
             *       "none",
             *       "login",
             *       "consent",
             *       "select_account"
             *     ]
             */
            prompt_values_supported: string[];
            /**
             * @description Whether request objects are supported. Always false.
             * @example false
             */
            request_parameter_supported: boolean;
            /**
             * @description Whether request objects by reference are supported. Always false.
             * @example false
             */
            request_uri_parameter_supported: boolean;
            /**
             * @description Whether such references must be registered. Always false.
             * @example false
             */
            require_request_uri_registration?: boolean;
            /**
             * @description The values of `response_mode`.
             * @example [
             *       "query",
             *       "form_post"
             *     ]
             */
            response_modes_supported: string[];
            /**
             * @description Only `code`.
             * @example [
             *       "code"
             *     ]
             */
            response_types_supported: string[];
            /**
             * Format: uri
             * @description Address of `revoke`.
             * @example https://sign-on.example.com/auth/revoke
             */
            revocation_endpoint: string;
            /**
             * @description How applications authenticate at `revoke`.
             * @example [
             *       "client_secret_basic",
             *       "client_secret_post",
             *       "none"
             *     ]
             */
            revocation_endpoint_auth_methods_supported: string[];
            /**
             * @description The scopes there are.
             * @example [
             *       "openid",
             *       "profile",
             *       "email"
             *     ]
             */
            scopes_supported: string[];
            /**
             * Format: uri
             * @description Address of the documentation, if the server names one. Not sent at present.
             * @example https://docs.example.com/sign-on
             */
            service_documentation?: string;
            /**
             * @description `public`: `sub` is the same for every application.
             * @example [
             *       "public"
             *     ]
             */
            subject_types_supported: string[];
            /**
             * Format: uri
             * @description Address of `token`.
             * @example https://sign-on.example.com/auth/token
             */
            token_endpoint: string;
            /**
             * @description How applications authenticate at `token`; `none` is for public ones.
             * @example [
             *       "client_secret_basic",
             *       "client_secret_post",
             *       "none"
             *     ]
             */
            token_endpoint_auth_methods_supported: string[];
            /**
             * @description Languages of the pages.
             * @example [
             *       "en"
             *     ]
             */
            ui_locales_supported: string[];
            /**
             * Format: uri
             * @description Address of `userinfo`.
             * @example https://sign-on.example.com/auth/userinfo
             */
            userinfo_endpoint: string;
        };
        /**
         * HtmlPage
         * @description An HTML page for people.
         */
        HtmlPage: string;
        /**
         * IdToken
         * @description An ID token, a signed JWT. Its content is `IdTokenClaims`.
         * @example eyJhbGciOiJSUzI1NiIsImtpZCI6ImxtOXoxdEhlekVIMVB4dExCekU4Rzc2UG11cjRZLWhVd1V3VHIwRjZUUkUiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJodHRwczovL3NpZ24tb24uZXhhbXBsZS5jb20iLCJleHAiOjE3ODI4MjA4MDAsImlhdCI6MTc4MjgxNzIwMCwiYXV0aF90aW1lIjoxNzgyODE3MTg4LCJub25jZSI6Im4tMFM2X1d6QTJNanJKOGtRZSIsImFjciI6InVybjpvYXNpczpuYW1lczp0YzpTQU1MOjIuMDphYzpjbGFzc2VzOlBhc3N3b3JkUHJvdGVjdGVkVHJhbnNwb3J0IiwiYXRfaGFzaCI6ImVnakhTVGwtMm9MbFQ5VzlCbGpON3ciLCJzdWIiOiJhY2NfRVVnWTNIelhNZDhLYTR5SU00ZzVVRiIsImF1ZCI6ImFwcF9HUmlOZEUyc3ZKNlVqMWg1cVdWc1lJIiwibmFtZSI6Ik1hcmlhIEtlbGxlciIsImZpcnN0TmFtZSI6Ik1hcmlhIiwibGFzdE5hbWUiOiJLZWxsZXIiLCJnaXZlbl9uYW1lIjoiTWFyaWEiLCJmYW1pbHlfbmFtZSI6IktlbGxlciIsImVtYWlsIjoibWFyaWEua2VsbGVyQG5vcnRod2luZC5leGFtcGxlLmNvbSIsImVtYWlsX3ZlcmlmaWVkIjp0cnVlLCJ3b3JrZXJQcm9maWxlSWQiOiJ3cGZfUTI1eFRoOHpIQWpIYTF4RXR4RFBISCIsInVzZXJJZHMiOlt7ImlkIjoidXNyX2dGaWVoQlpxMnczeEdwbHBmVDA0ZW0iLCJjbGllbnRJZCI6ImNsaV94OXNTMWJGU2tsbGE2WVo3cG5TODExIn1dLCJ3b3JrZXJJZHMiOlt7ImlkIjoid3JrX1hwWlVMcnhzbWdicjlja3VXNjF2NG8iLCJjbGllbnRJZCI6ImNsaV94TkwzazVNRllrVTBLM3BwUzhac0pDIn1dLCJsYXN0TG9naW5Db250ZXh0Ijp7InVzZXJUeXBlIjoiVVNFUiIsImNsaWVudElkIjoiY2xpX3g5c1MxYkZTa2xsYTZZWjdwblM4MTEifX0.eG46tvnUe4iG68tE1otNintzyJqCbWCgiO2t-I6-npcE0lT3Y1q4rJG-R1YGAbljCMNbgVV65JcvlPIxFZ--NtG0JGt0q24T24tRwxjpZGjI-icBCpCEzh38_UFuPJh4CQqXbF2OEiIDsIn9G9Jjh0Pe_AMA2AQ4V3-sPt65lOjrq9kYqQVsO4ilufSC1H2sp8U82m_8fartRzSYPQ_-sIjG9-1xaieOi9YWy_qJCOrqFMRVRhgKpcnrvU3ufkvlU2rMGdrjKmHQ2AbbEUvv9TCC_lqlpXIEFohdG5L_Eaj3-HvHoMQ_jlaaYJdyw_pHGenFsUhf5-ujAQ79LURcsg
         */
        IdToken: string;
        /**
         * IdTokenClaims
         * @description What an ID token says, once its signature is verified. Claims of a scope that was not granted are absent;
         *     so is a name that is not known. More claims may be added.
         */
        IdTokenClaims: {
            /**
             * @description How the person signed in, one of `acr_values_supported`.
             * @example urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport
             */
            acr?: string;
            /**
             * @description Ties the ID token to the access token that came with it: the left half of the hash of the access token, in
             *     base64url (OpenID Connect Core, section 3.1.3.6).
             * @example egjHSTl-2oLlT9W9BljN7w
             */
            at_hash?: string;
            /** @description Your application's `client_id`. */
            aud: components["schemas"]["ApplicationId"];
            /**
             * Format: int64
             * @description When the person last gave their password, in seconds since 1970.
             * @example 1782817188
             */
            auth_time?: number;
            /**
             * @description Email address the person signs in with. It can change. One that is older than the gateway's rule for
             *     addresses (`EmailAddress`) is as it was given. Scope `email`.
             * @example maria.keller@northwind.example.com
             */
            email?: string;
            /**
             * @description Whether the person has verified the address by a mailed link. Scope `email`.
             * @example true
             */
            email_verified?: boolean;
            /**
             * Format: int64
             * @description Expiry, in seconds since 1970.
             * @example 1782820800
             */
            exp: number;
            /**
             * @description The same as `lastName`, under its name in OpenID Connect. Scope `profile`.
             * @example Keller
             */
            family_name?: string;
            /**
             * @description First name. Scope `profile`.
             * @example Maria
             */
            firstName?: string;
            /**
             * @description The same as `firstName`, under its name in OpenID Connect. Scope `profile`.
             * @example Maria
             */
            given_name?: string;
            /**
             * Format: int64
             * @description When the token was issued, in seconds since 1970.
             * @example 1782817200
             */
            iat: number;
            /**
             * Format: uri
             * @description Issuer URL of the sign-on server. It must equal the one in the discovery document.
             * @example https://sign-on.example.com
             */
            iss: string;
            /** @description The last active state of the person on this instance. Always included. */
            lastLoginContext: components["schemas"]["LoginContext"];
            /**
             * @description Last name. Scope `profile`.
             * @example Keller
             */
            lastName?: string;
            /**
             * @description Full name of the user or worker that the person is signed in as. Scope `profile`.
             * @example Maria Keller
             */
            name?: string;
            /**
             * @description The `nonce` of the authorization request, unchanged. Present if there was one; compare it.
             * @example n-0S6_WzA2MjrJ8kQe
             */
            nonce?: string;
            /** @description The person, the same for every application; never changes. Use it as the key of your accounts. */
            sub: components["schemas"]["AccountId"];
            /**
             * @description The users that this person is on the instance of the sign-in and may sign in as (`ACTIVE` or `INVITED`), oldest
             *     first; empty if none. Always included.
             */
            userIds: components["schemas"]["UserContext"][];
            /**
             * @description The workers that this person is on the instance of the sign-in and who are not offboarded, oldest first; empty
             *     if none. Always included.
             */
            workerIds: components["schemas"]["WorkerContext"][];
            /** @description Public worker profile id of the person. Always included. */
            workerProfileId: components["schemas"]["WorkerProfileId"];
        };
        /**
         * Interaction
         * @description Opaque name of a sign-in or sign-out under way. It holds what was asked for, encrypted, so it is hardly longer
         *     than the address that the application sent the browser to.
         * @example cuFEEZ-nt-JWY2Ao6w4J4g
         */
        Interaction: string;
        /**
         * IntrospectionError
         * @description The answer of the introspection endpoint when it refuses.
         */
        IntrospectionError: {
            error: components["schemas"]["IntrospectionErrorCode"];
            /**
             * @description What went wrong, for people. Its wording may change.
             * @example The field token is missing.
             */
            error_description: string;
        };
        /**
         * IntrospectionErrorCode
         * @description Why the introspection endpoint refused. New codes may be added: treat one you do not know like its HTTP
         *     status.
         *
         *     | Code | Status | Meaning |
         *     |---|---|---|
         *     | `invalid_request` | 400 | A parameter is missing, such as `token` or `client_id`, repeated or malformed; or the secret was sent in two ways, `client_id` is not that of the header, or a secret is in the address. |
         *     | `invalid_client` | 401 | The application is unknown, or its secret is missing or wrong. |
         *     | `unauthorized_client` | 400 | The application is public or disabled. |
         * @example invalid_request
         * @enum {string}
         */
        IntrospectionErrorCode: "invalid_request" | "invalid_client" | "unauthorized_client";
        /**
         * IntrospectionRequest
         * @description The token to ask about.
         */
        IntrospectionRequest: {
            /** @description Your application. Required unless HTTP Basic names it. */
            client_id?: components["schemas"]["ApplicationId"];
            /** @description The secret of your application, unless HTTP Basic carries it. */
            client_secret?: components["schemas"]["ClientSecret"];
            /**
             * @description An access token or a refresh token of your application.
             * @example cuFEEZ-nt-JWY2Ao6w4J4gAAAAH_SNIfPR-MtoT0RYQnvQdusxPTqPsl3by8enfqy-cMsQ
             */
            token: string;
            /**
             * @description `access_token` or `refresh_token`. Only a hint: it may be wrong, and an unknown one is ignored.
             * @example access_token
             */
            token_type_hint?: string;
        };
        /**
         * IntrospectionResponse
         * @description Whether a token is valid. Members other than `active` are present only if it is.
         */
        IntrospectionResponse: {
            /**
             * @description Whether the token is valid now, for your application.
             * @example true
             */
            active: boolean;
            /**
             * Format: uri
             * @description For whom an access token is; absent for a refresh token.
             * @example https://sign-on.example.com
             */
            aud?: string;
            /** @description The application the token was issued to. */
            client_id?: components["schemas"]["ApplicationId"];
            /**
             * Format: int64
             * @description Expiry, in seconds since 1970.
             * @example 1782820800
             */
            exp?: number;
            /**
             * Format: int64
             * @description When the token was issued, in seconds since 1970.
             * @example 1782817200
             */
            iat?: number;
            /**
             * Format: uri
             * @description Issuer URL of the sign-on server.
             * @example https://sign-on.example.com
             */
            iss?: string;
            /**
             * @description Id of an access token; absent for a refresh token.
             * @example 5TfWq0cYbLm8RzKx3NvHdP
             */
            jti?: string;
            /**
             * @description The granted scopes, separated by spaces.
             * @example openid profile email
             */
            scope?: string;
            /** @description The person. */
            sub?: components["schemas"]["AccountId"];
            /**
             * @description `Bearer` for an access token; absent for a refresh token.
             * @example Bearer
             */
            token_type?: string;
        };
        /**
         * IssuedTokens
         * @description The tokens that an exchange or a refresh gives.
         */
        IssuedTokens: {
            access_token: components["schemas"]["AccessToken"];
            /**
             * @description Seconds until the access token expires.
             * @example 3600
             */
            expires_in: number;
            /**
             * @description The ID token; its content is `IdTokenClaims`. Present in the answer to a code if the scope `openid` was granted,
             *     never in the answer to a refresh.
             */
            id_token?: components["schemas"]["IdToken"];
            /**
             * @description The refresh token. If there is one in the answer to a refresh, replace the stored one with it at once. Absent
             *     if your application is not registered for refreshing.
             */
            refresh_token?: components["schemas"]["RefreshToken"];
            /**
             * @description The granted scopes, separated by spaces. They can be fewer than you asked for.
             * @example openid profile email
             */
            scope: string;
            /**
             * @description Always `Bearer`.
             * @example Bearer
             * @constant
             */
            token_type: "Bearer";
        };
        /**
         * Jwk
         * @description A public key (RFC 7517, RFC 7518, RFC 8037). Pass over keys whose `kty`, `alg` or `crv` you do not know: other
         *     kinds may be added.
         *
         *     | `kty` | `alg` | Members | Signs |
         *     |---|---|---|---|
         *     | `RSA` | `RS256` | `n`, `e` | ID tokens |
         *     | `EC` | `ES256` | `crv` (`P-256`), `x`, `y` | access tokens; ID tokens of applications registered for it |
         *     | `OKP` | `EdDSA` | `crv` (`Ed25519`), `x` | ID tokens of applications registered for it |
         */
        Jwk: {
            /**
             * @description The algorithm the key signs with.
             * @example RS256
             */
            alg: string;
            /**
             * @description EC and OKP: the curve.
             * @example P-256
             */
            crv?: string;
            /**
             * @description RSA: exponent, base64url.
             * @example AQAB
             */
            e?: string;
            /**
             * @description Id of the key, as in the header of the tokens it signs.
             * @example lm9z1tHezEH1PxtLBzE8G76Pmur4Y-hUwUwTr0F6TRE
             */
            kid: string;
            /**
             * @description Kind of key.
             * @example RSA
             */
            kty: string;
            /**
             * @description RSA: modulus, base64url.
             * @example 2dMUSuPtc__4pGv7wYYS_otzSdjXxfryRuMkSI3kQlk1qt1Y82gi89DDmWjAhAhorXMGguZPPls9ZG2o5YUEjEr2YtJvfpJPKqZ-I6j2uCeQ7LSmNWF3Omj_652IwA_B67z1V21r44ifcv1pkQE4-iPaQrJblXim1QUrp0tThxeGiwBuOUd9SVIrIyx4qCa5g6kdK0RGOLiqwC2kKyo1W4FjpQ2P0HHxlrCPYhhiNhnmYoWq9VT4KaDHPG0QC42F_supeVlqH3miBiPiqFmWN7-uKZO2z_iIKfAjX3r5ioKfMpWPMifAN_-MW-301zoPBLteVZ7Fi10gvn6k63cotw
             */
            n?: string;
            /**
             * @description Always `sig`: the key is for signatures.
             * @example sig
             * @constant
             */
            use: "sig";
            /**
             * @description EC: x coordinate; OKP: the public key. Base64url.
             * @example uxDSoPGb7IlgqCs-Q9z6OrbezHNR17tPbOE1qt3fCE8
             */
            x?: string;
            /**
             * @description EC: y coordinate, base64url.
             * @example G0NHGgkc4pjbBKjobZiRflhKNMuMZXU05jguTBoJstg
             */
            y?: string;
        };
        /**
         * JwkSet
         * @description The public keys (RFC 7517, section 5).
         */
        JwkSet: {
            /** @description Present keys, future keys, and former keys with unexpired tokens. In no order. */
            keys: components["schemas"]["Jwk"][];
        };
        /**
         * LinkToken
         * @description Opaque secret of a mailed link.
         * @example kTmAy0IngJVyw9QKvhdKQPU__LhboUjX8ItW9fJA0jQ
         */
        LinkToken: string;
        /**
         * LoginContext
         * @description The last active state of the person on this instance, chosen at sign-in.
         */
        LoginContext: {
            /** @description Public id of the client. */
            clientId: components["schemas"]["ClientId"];
            userType: components["schemas"]["LoginUserType"];
        };
        /**
         * LoginUserType
         * @description In which role a person is signed in.
         *
         *     | Value | Meaning |
         *     |---|---|
         *     | `WORKER` | as a worker, an employee or contractor of the client |
         *     | `USER` | as a user, on behalf of the client |
         * @example USER
         * @enum {string}
         */
        LoginUserType: "WORKER" | "USER";
        /**
         * LogoutForm
         * @description The parameters of a logout request, as a form.
         */
        LogoutForm: {
            /** @description Your application. If `id_token_hint` is sent as well they must agree. */
            client_id?: components["schemas"]["ApplicationId"];
            /**
             * @description Recommended. An ID token this server gave your application, expired or not: it says who is to be signed
             *     out, and which application asks. If the person has signed in again since, a page asks the person.
             */
            id_token_hint?: components["schemas"]["IdToken"];
            /**
             * @description The email address of the person to sign out. Accepted, and without effect; the page asks the person who is signed in.
             * @example maria.keller@northwind.example.com
             */
            logout_hint?: string;
            /**
             * Format: uri
             * @description Where the browser goes afterwards. It must be one of those registered for your application, character by
             *     character.
             * @example https://app.example.com/signed-out
             */
            post_logout_redirect_uri?: string;
            /**
             * @description An opaque value, added unchanged to `post_logout_redirect_uri`.
             * @example CqI6pyvXbg_E8lvx2gq5VA
             */
            state?: string;
            /**
             * @description Preferred languages of the pages, separated by spaces, best first.
             * @example de-CH en
             */
            ui_locales?: string;
        };
        /**
         * RefreshToken
         * @description A refresh token. Opaque; each is replaced by the next.
         * @example cuFEEZ-nt-JWY2Ao6w4J4gAAAAH_SNIfPR-MtoT0RYQnvQdusxPTqPsl3by8enfqy-cMsQ
         */
        RefreshToken: string;
        /**
         * RefreshTokenGrant
         * @description Get new tokens for a refresh token.
         */
        RefreshTokenGrant: {
            /** @description Your application. */
            client_id: components["schemas"]["ApplicationId"];
            /** @description Required for confidential applications, unless HTTP Basic carries it. Public applications have none. */
            client_secret?: components["schemas"]["ClientSecret"];
            /**
             * @description Which grant this is. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            grant_type: "refresh_token";
            /** @description The refresh token you hold. */
            refresh_token: components["schemas"]["RefreshToken"];
            /**
             * @description Fewer scopes than were granted, separated by spaces. Without it you get all of them.
             * @example openid profile
             */
            scope?: string;
        };
        /**
         * ResponseType
         * @description What the authorization endpoint gives: an authorization code.
         * @example code
         * @enum {string}
         */
        ResponseType: "code";
        /**
         * RevocationError
         * @description The answer of the revocation endpoint when it refuses.
         */
        RevocationError: {
            error: components["schemas"]["RevocationErrorCode"];
            /**
             * @description What went wrong, for people. Its wording may change.
             * @example The field token is missing.
             */
            error_description: string;
        };
        /**
         * RevocationErrorCode
         * @description Why the revocation endpoint refused. New codes may be added: treat one you do not know like its HTTP status.
         *
         *     | Code | Status | Meaning |
         *     |---|---|---|
         *     | `invalid_request` | 400 | A parameter is missing, such as `token` or `client_id`, repeated or malformed; or the secret was sent in two ways, `client_id` is not that of the header, or a secret is in the address. |
         *     | `invalid_client` | 400, 401 | The application is unknown, or its secret is missing or wrong. 401 if HTTP Basic was used. |
         *     | `unauthorized_client` | 400 | The application is disabled. |
         *     | `invalid_grant` | 400 | The token was issued to another application. |
         *     | `unsupported_token_type` | 400 | The token is an ID token: it cannot be revoked. |
         * @example invalid_request
         * @enum {string}
         */
        RevocationErrorCode: "invalid_request" | "invalid_client" | "unauthorized_client" | "invalid_grant" | "unsupported_token_type";
        /**
         * RevocationRequest
         * @description The token to end.
         */
        RevocationRequest: {
            /** @description Your application. Required unless HTTP Basic names it. */
            client_id?: components["schemas"]["ApplicationId"];
            /** @description The secret of a confidential application, unless HTTP Basic carries it. */
            client_secret?: components["schemas"]["ClientSecret"];
            /**
             * @description A refresh token or an access token of your application.
             * @example cuFEEZ-nt-JWY2Ao6w4J4gAAAAH_SNIfPR-MtoT0RYQnvQdusxPTqPsl3by8enfqy-cMsQ
             */
            token: string;
            /**
             * @description `refresh_token` or `access_token`. Only a hint: it may be wrong, and an unknown one is ignored.
             * @example refresh_token
             */
            token_type_hint?: string;
        };
        /**
         * ServiceError
         * @description The answer to a request that the server refused, whatever the rules of the endpoint.
         */
        ServiceError: {
            error: components["schemas"]["ServiceErrorCode"];
            /**
             * @description What went wrong, for people. Its wording may change.
             * @example The service is briefly unable to answer.
             */
            error_description: string;
        };
        /**
         * ServiceErrorCode
         * @description Why the server refused a request, whatever the rules of the endpoint.
         *
         *     | Code | Status | Meaning |
         *     |---|---|---|
         *     | `invalid_request` | 404, 405, 413, 415 | There is nothing at this path, or the method, the size or the type of the request is not what the endpoint takes. |
         *     | `temporarily_unavailable` | 408, 429, 503 | The body did not arrive within ten seconds: send the request again. Or there are too many requests, or we are briefly unable to answer: wait as long as `Retry-After` says. |
         *     | `server_error` | 500 | An internal error. Include the `x-request-id` in support requests. |
         * @example invalid_request
         * @enum {string}
         */
        ServiceErrorCode: "invalid_request" | "temporarily_unavailable" | "server_error";
        /**
         * SetPasswordForm
         * @description The form of the page that sets a password. The secret of the link protects it, no cookie is needed.
         */
        SetPasswordForm: {
            /**
             * @description The address shown, for password managers. The service ignores it.
             * @example maria.keller@northwind.example.com
             */
            email?: string;
            /**
             * Format: password
             * @description The new password.
             * @example correct horse battery staple
             */
            password: string;
            /** @description The secret of the mailed link. */
            token: components["schemas"]["LinkToken"];
        };
        /**
         * SignInForm
         * @description The form of the page “Sign in”.
         */
        SignInForm: {
            /** @description Ties the form to the browser it was shown in. */
            csrf_token: components["schemas"]["CsrfToken"];
            /**
             * @description Email address.
             * @example maria.keller@northwind.example.com
             */
            email: string;
            /** @description The sign-in or sign-out under way, as in the address of the page. */
            interaction: components["schemas"]["Interaction"];
            /**
             * Format: password
             * @description Password.
             * @example correct horse battery staple
             */
            password: string;
        };
        /**
         * SignOutForm
         * @description The form of the page that asks before it signs out.
         */
        SignOutForm: {
            /** @description Ties the form to the browser it was shown in. */
            csrf_token: components["schemas"]["CsrfToken"];
            /** @description The sign-in or sign-out under way, as in the address of the page. */
            interaction: components["schemas"]["Interaction"];
        };
        /**
         * TokenError
         * @description The answer of the token endpoint when it refuses.
         */
        TokenError: {
            error: components["schemas"]["TokenErrorCode"];
            /**
             * @description What went wrong, for people. Its wording may change.
             * @example The code is invalid, expired or already used.
             */
            error_description: string;
        };
        /**
         * TokenErrorCode
         * @description Why the token endpoint refused. New codes may be added: treat one you do not know like its HTTP status.
         *
         *     | Code | Status | Meaning |
         *     |---|---|---|
         *     | `invalid_request` | 400 | A parameter is missing, such as `client_id`, repeated or malformed; or the secret was sent in two ways, `client_id` is not that of the header, or a secret is in the address. |
         *     | `invalid_client` | 400, 401 | The application is unknown, or its secret is missing or wrong. 401 if HTTP Basic was used. |
         *     | `invalid_grant` | 400 | The code or refresh token is invalid, expired, already used, revoked, or another application's; or `redirect_uri` or `code_verifier` does not match, or `code_verifier` is missing; or, at the exchange of a code, its scopes or its `redirect_uri` were taken from the application, or the person may not sign in there any more. |
         *     | `unauthorized_client` | 400 | The application is disabled, or may not use this grant. |
         *     | `unsupported_grant_type` | 400 | `grant_type` is none of `authorization_code` and `refresh_token`. |
         *     | `invalid_scope` | 400 | A refresh asks for a scope that is unknown or was not granted, or the application may not use any of the granted scopes any more. |
         * @example invalid_request
         * @enum {string}
         */
        TokenErrorCode: "invalid_request" | "invalid_client" | "invalid_grant" | "unauthorized_client" | "unsupported_grant_type" | "invalid_scope";
        /**
         * TokenRequest
         * @description What to exchange for tokens; `grant_type` says which.
         */
        TokenRequest: components["schemas"]["AuthorizationCodeGrant"] | components["schemas"]["RefreshTokenGrant"];
        /**
         * UserContext
         * @description A user that this person is, and the client it relates to.
         */
        UserContext: {
            /** @description Public id of the client the user relates to. */
            clientId: components["schemas"]["ClientId"];
            /** @description Public user id. */
            id: components["schemas"]["UserId"];
        };
        /**
         * UserId
         * @description Public id of a user: a person who can sign in to the dashboard on behalf of a client.
         * @example usr_HCZONjGb2Vig7IXUdMsJi5
         */
        UserId: `usr_${string}`;
        /**
         * UserinfoClaims
         * @description Who signed in. Claims of a scope that was not granted are absent; so is a name that is not known. More claims may be added.
         */
        UserinfoClaims: {
            /** @description Your application's `client_id`. */
            aud: components["schemas"]["ApplicationId"];
            /**
             * @description Email address the person signs in with. It can change. One that is older than the gateway's rule for
             *     addresses (`EmailAddress`) is as it was given. Scope `email`.
             * @example maria.keller@northwind.example.com
             */
            email?: string;
            /**
             * @description Whether the person has verified the address by a mailed link. Scope `email`.
             * @example true
             */
            email_verified?: boolean;
            /**
             * @description The same as `lastName`, under its name in OpenID Connect. Scope `profile`.
             * @example Keller
             */
            family_name?: string;
            /**
             * @description First name. Scope `profile`.
             * @example Maria
             */
            firstName?: string;
            /**
             * @description The same as `firstName`, under its name in OpenID Connect. Scope `profile`.
             * @example Maria
             */
            given_name?: string;
            /** @description The last active state of the person on this instance. Always included. */
            lastLoginContext: components["schemas"]["LoginContext"];
            /**
             * @description Last name. Scope `profile`.
             * @example Keller
             */
            lastName?: string;
            /**
             * @description Full name of the user or worker that the person is signed in as. Scope `profile`.
             * @example Maria Keller
             */
            name?: string;
            /** @description The person, the same for every application; never changes. Use it as the key of your accounts. */
            sub: components["schemas"]["AccountId"];
            /**
             * @description The users that this person is on the instance of the sign-in and may sign in as (`ACTIVE` or `INVITED`), oldest
             *     first; empty if none. Always included.
             */
            userIds: components["schemas"]["UserContext"][];
            /**
             * @description The workers that this person is on the instance of the sign-in and who are not offboarded, oldest first; empty
             *     if none. Always included.
             */
            workerIds: components["schemas"]["WorkerContext"][];
            /** @description Public worker profile id of the person. Always included. */
            workerProfileId: components["schemas"]["WorkerProfileId"];
        };
        /**
         * UserinfoError
         * @description The answer of userinfo when it refuses.
         */
        UserinfoError: {
            error: components["schemas"]["UserinfoErrorCode"];
            /**
             * @description What went wrong, for people. Its wording may change.
             * @example The access token is invalid or expired.
             */
            error_description: string;
        };
        /**
         * UserinfoErrorCode
         * @description Why userinfo refused. New codes may be added: treat one you do not know like its HTTP status.
         *
         *     | Code | Status | Meaning |
         *     |---|---|---|
         *     | `invalid_request` | 400 | The token was sent in two places or in the address, or the request is malformed. |
         *     | `invalid_token` | 401 | The access token is missing, invalid, expired or revoked. |
         *     | `insufficient_scope` | 403 | The access token lacks the scope `openid`. |
         * @example invalid_request
         * @enum {string}
         */
        UserinfoErrorCode: "invalid_request" | "invalid_token" | "insufficient_scope";
        /**
         * UserinfoForm
         * @description The access token in a form (RFC 6750, section 2.2), if it is not in the `Authorization` header.
         */
        UserinfoForm: {
            access_token?: components["schemas"]["AccessToken"];
        };
        /**
         * VerifyEmailForm
         * @description The form of the page that verifies an email address.
         */
        VerifyEmailForm: {
            /** @description The secret of the mailed link. */
            token: components["schemas"]["LinkToken"];
        };
        /**
         * WorkerContext
         * @description A worker that this person is, and the client the contract is with.
         */
        WorkerContext: {
            /** @description Public id of the client the worker has a contract with. */
            clientId: components["schemas"]["ClientId"];
            /** @description Public worker id. */
            id: components["schemas"]["WorkerId"];
        };
        /**
         * WorkerId
         * @description Public id of a worker: an employee or contractor of a client who receives payroll.
         * @example wrk_l50ycP5H6CnQHxa7Xt2y3d
         */
        WorkerId: `wrk_${string}`;
        /**
         * WorkerProfileId
         * @description Public id of a worker profile: what one person has in common over all their contracts.
         * @example wpf_f00J1FZbEtwTMV6n5Tc3w6
         */
        WorkerProfileId: `wpf_${string}`;
    };
    responses: {
        /** @description To a page of this server, or back to the application. */
        AuthorizationRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["AuthorizationLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Back to the application, or to the page at which the sign-in is now. */
        CancelRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["CancelLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The page that asks for the password of the account before its address changes, with an error if `problem` names one. */
        ChangeEmailPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The page that lists the contexts of the person on this instance. */
        ChooseContextPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["FormPostReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The page that names the application and the data it will see. */
        ConsentPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["FormPostReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description Back to the application, or to the page at which the sign-in is now. */
        ConsentRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["ConsentLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The body is larger than 64 KiB. */
        ContentTooLarge: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOriginIfOpen"];
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceError"];
            };
        };
        /** @description The form is larger than 64 KiB. A form whose address has a query gets a link to its page. */
        ContentTooLargePage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The page that says the email address has changed. */
        EmailChangedPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description To the page that says so, or back to the same page with its errors. */
        EmailChangedRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["EmailChangedLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The page that says the email address is verified. */
        EmailVerifiedPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description To the page that says so. */
        EmailVerifiedRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["EmailVerifiedLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description The error page: the request is not valid, or it is over (a stale page, a used link). It says how to go on and
         *     never redirects.
         */
        ErrorPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /**
         * @description With `response_mode=form_post`, in place of the redirect to the application: a page whose form sends the answer to
         *     the redirect URI, by itself where scripts run, else with its button.
         */
        FormPostPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["FormPostReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description Something went wrong with us. */
        InternalError: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOriginIfOpen"];
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceError"];
            };
        };
        /** @description Something went wrong with us. The page has a link to itself, or from a form to its page. */
        InternalErrorPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description Too many attempts, also for an account. Wait as long as `Retry-After` says. */
        LockedOutPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description To the application, to the page that asks first, or to the page that says “signed out”. */
        LogoutRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["LogoutLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The path does not take this method. */
        MethodNotAllowed: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOriginIfOpen"];
                Allow: components["headers"]["Allow"];
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceError"];
            };
        };
        /** @description The path does not take this method. */
        MethodNotAllowedPage: {
            headers: {
                Allow: components["headers"]["Allow"];
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description Your copy is still good. The body is empty. */
        NotModified: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                "Cache-Control": components["headers"]["PublicCache"];
                ETag: components["headers"]["ETag"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description To the next page, back to the same page with its errors, or back to the application. */
        PageRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["PageLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The page that says the password is set. */
        PasswordSetPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description To the page that says so, or back to the same page with its errors. */
        PasswordSetRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["PasswordSetLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description The body did not arrive within ten seconds, and nothing was done. Send the request again; instead of a code
         *     exchange, start a new authorization, because a proxy may answer 408 for an exchange that was done.
         */
        RequestTimeout: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOriginIfOpen"];
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceError"];
            };
        };
        /** @description The form did not arrive within ten seconds. Send it again. A form whose address has a query gets a link to its page. */
        RequestTimeoutPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The page that sets a password, with an error if `problem` names one. */
        SetPasswordPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The page that confirms the sign-out. */
        SignedOutPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description Back to the application, to the page that says “signed out”, or to the page at which the sign-out or sign-in is now. */
        SignedOutRedirect: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                Location: components["headers"]["SignedOutLocation"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description The page “Sign in”, as long as the sign-in is under way, also for someone who is signed in and wants to be
         *     someone else.
         */
        SignInPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["FormPostReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The page that asks before it signs out. */
        SignOutPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["FormPostReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description Too many requests. Wait as long as `Retry-After` says. */
        TooManyRequests: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOriginIfOpen"];
                "Cache-Control": components["headers"]["NoStore"];
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceError"];
            };
        };
        /** @description Too many attempts. Wait as long as `Retry-After` says. The page has a link to itself, or from a form to its page. */
        TooManyRequestsPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The service is briefly unable to answer. Wait as long as `Retry-After` says. */
        Unavailable: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOriginIfOpen"];
                "Cache-Control": components["headers"]["NoStore"];
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceError"];
            };
        };
        /** @description The service is briefly unable to answer. Wait as long as `Retry-After` says. The page has a link to itself, or from a form to its page. */
        UnavailablePage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The endpoint does not accept this type of body. */
        UnsupportedMediaType: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOriginIfOpen"];
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceError"];
            };
        };
        /** @description The body is not a form. A form whose address has a query gets a link to its page. */
        UnsupportedMediaTypePage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
        /** @description The claims. */
        Userinfo: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UserinfoClaims"];
            };
        };
        /** @description The access token was granted without the scope `openid`. */
        UserinfoInsufficientScope: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                "Cache-Control": components["headers"]["NoStore"];
                "WWW-Authenticate": components["headers"]["ScopeChallenge"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UserinfoError"];
            };
        };
        /** @description The token was sent in two places, in the address, or the request is malformed. */
        UserinfoInvalidRequest: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                "Cache-Control": components["headers"]["NoStore"];
                /**
                 * @description What was wrong with the request (RFC 6750, section 3).
                 * @example Bearer realm="sign-on", error="invalid_request", error_description="Send the access token in one place."
                 */
                "WWW-Authenticate": string;
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UserinfoError"];
            };
        };
        /** @description The access token is missing, invalid, expired or revoked. */
        UserinfoInvalidToken: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                "Cache-Control": components["headers"]["NoStore"];
                "WWW-Authenticate": components["headers"]["BearerChallenge"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UserinfoError"];
            };
        };
        /** @description The page that asks for a click, so that mail scanners, which open links, verify nothing. */
        VerifyEmailPage: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                "Set-Cookie": components["headers"]["SetCookie"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "text/html": components["schemas"]["HtmlPage"];
            };
        };
    };
    parameters: {
        /** @description The `ETag` of your stored copy. The answer is 304 if it is current. */
        IfNoneMatch: string;
        /** @description Opaque name of the present sign-in or sign-out. It works only in the browser that began it; that of a finished sign-out leads on in others too. */
        Interaction: components["schemas"]["Interaction"];
        /** @description Opaque secret of the mailed link. It works once and expires. */
        LinkToken: components["schemas"]["LinkToken"];
        /**
         * @description Your id for this request: 1 to 128 characters of `A-Z a-z 0-9 . _ -`. It is returned and logged, but the log hides
         *     what looks like a secret, such as 43 or more characters without a dot that have capital and small letters;
         *     anything else is replaced by an id of ours.
         */
        RequestId: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The methods this path takes.
         * @example GET, POST, OPTIONS
         */
        Allow: string;
        /**
         * @description Scripts of any origin may read the answer. Cookies are neither sent nor looked at.
         * @example *
         */
        AnyOrigin: "*";
        /**
         * @description Scripts of any origin may read the answer. Absent on the introspection endpoint, which is for servers.
         * @example *
         */
        AnyOriginIfOpen: "*";
        /**
         * @description Where the browser goes: to a page of this server, or back to `redirect_uri` with the answer in the query.
         *     Any query the registered redirect URI has is kept.
         */
        AuthorizationLocation: string;
        /**
         * @description How to authenticate. Introspection sends it with every 401; the token and revocation endpoints send it only if the
         *     request used the `Authorization` header.
         * @example Basic realm="sign-on", charset="UTF-8"
         */
        BasicChallenge: string;
        /** @description What was wrong with the access token (RFC 6750, section 3). Without `error` if the request brought no token at all. */
        BearerChallenge: string;
        /** @description Back to the application, or to the page at which the sign-in is now. */
        CancelLocation: string;
        /** @description Back to the application, or to the page at which the sign-in is now. */
        ConsentLocation: string;
        /**
         * @description Forbids scripts, except those of the page, by their hashes: one sends a `form_post`, one holds back the second
         *     submit of a form, one holds back a decision or choice until the page has been seen, and one shows a password.
         *     Forbids framing, except of the page that sends a `form_post` for `prompt=none`; and content of third parties,
         *     except the logo of an application. Forms may lead only here and, on the way back to an application, to its
         *     address and anywhere over https: browsers hold each further redirect against this too.
         * @example default-src 'none'; style-src 'sha256-4Su6mBWzEIFnH4pAGMOuaeBrstwJN4Z3pq/s1Kn4/KQ='; img-src data:; form-action 'self' https:; frame-ancestors 'none'; base-uri 'none'
         */
        ContentSecurityPolicy: string;
        /** @description To the page that says so, or back to the same page with its errors. */
        EmailChangedLocation: string;
        /** @description To the page that says so. */
        EmailVerifiedLocation: string;
        /**
         * @description Version of the answer. Send it back in `If-None-Match`.
         * @example "bXUq0hC7mVtS1r6kP9fYzA"
         */
        ETag: string;
        /**
         * @description `strict-origin` on the page that sends a `form_post`, so that its form has the `Origin` of this server, and no
         *     address; else `no-referrer`.
         * @example strict-origin
         */
        FormPostReferrerPolicy: "no-referrer" | "strict-origin";
        /** @description The registered `post_logout_redirect_uri` with `state`, or a page of this server. */
        LogoutLocation: string;
        /**
         * @description Nothing here is to be kept in a cache. Answers for programs also have `Pragma: no-cache`.
         * @example no-store
         */
        NoStore: "no-store";
        /** @description The next page, or back to the application when all is done. */
        PageLocation: string;
        /** @description To the page that says so, or back to the same page with its errors. */
        PasswordSetLocation: string;
        /**
         * @description The same for old caches (RFC 6749, section 5.1).
         * @example no-cache
         */
        Pragma: "no-cache";
        /**
         * @description How long a copy may be used. The time is an example.
         * @example public, max-age=300
         */
        PublicCache: string;
        /**
         * @description The address of the page does not exist.
         * @example no-referrer
         */
        ReferrerPolicy: "no-referrer";
        /**
         * @description Id of the request, yours or one of ours. It is logged; include it in support requests.
         * @example req-7d1f0c52
         */
        RequestId: string;
        /**
         * @description Seconds to wait before the next try.
         * @example 5
         */
        RetryAfter: number;
        /**
         * @description Which scope the access token lacks (RFC 6750, section 3).
         * @example Bearer realm="sign-on", error="insufficient_scope", error_description="The access token lacks the scope openid.", scope="openid"
         */
        ScopeChallenge: string;
        /**
         * @description The session, and who has signed in in the browser before, in cookies of this server that scripts cannot read.
         *     Their names may change.
         * @example __Host-integration_session=X_2Hi8wjTaPDhZ6BZZtHvBRrezy8RgQqvLblf2KsX5c; Path=/; HttpOnly; SameSite=Lax; Secure
         */
        SetCookie: string;
        /** @description Back to the application, to the page that says “signed out”, or to the page at which the sign-out or sign-in is now. */
        SignedOutLocation: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    jwks: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of your stored copy. The answer is 304 if it is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description Your id for this request: 1 to 128 characters of `A-Z a-z 0-9 . _ -`. It is returned and logged, but the log hides
                 *     what looks like a secret, such as 43 or more characters without a dot that have capital and small letters;
                 *     anything else is replaced by an id of ours.
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key set. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                    "Cache-Control": components["headers"]["PublicCache"];
                    ETag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JwkSet"];
                };
            };
            304: components["responses"]["NotModified"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    discovery: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of your stored copy. The answer is 304 if it is current. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description Your id for this request: 1 to 128 characters of `A-Z a-z 0-9 . _ -`. It is returned and logged, but the log hides
                 *     what looks like a secret, such as 43 or more characters without a dot that have capital and small letters;
                 *     anything else is replaced by an id of ours.
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The discovery document. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                    "Cache-Control": components["headers"]["PublicCache"];
                    ETag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiscoveryDocument"];
                };
            };
            304: components["responses"]["NotModified"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    authorize: {
        parameters: {
            query: {
                /** @description Authentication context classes you would like. Not enforced; `acr` of the ID token says which class was used. */
                acr_values?: string;
                /**
                 * @description Single claims to return, as the JSON of OpenID Connect Core section 5.5, within what your scopes allow. Each ID
                 *     token has `acr` and `auth_time`. An essential `acr` that asks only for values outside `acr_values_supported` is
                 *     refused with `access_denied`.
                 */
                claims?: string;
                /** @description Preferred languages of the claims. Accepted; claims have no language. */
                claims_locales?: string;
                /** @description Your application. */
                client_id: components["schemas"]["ApplicationId"];
                /**
                 * @description BASE64URL(SHA256(`code_verifier`)), 43 characters. Recommended; required for public applications and for
                 *     those registered to require PKCE.
                 */
                code_challenge?: components["schemas"]["CodeChallenge"];
                /** @description Must be `S256`. Required with `code_challenge`. */
                code_challenge_method?: components["schemas"]["CodeChallengeMethod"];
                /** @description `page`, `popup`, `touch` or `wap`. Accepted; the pages adapt by themselves. */
                display?: string;
                /**
                 * @description An ID token this server gave your application earlier, expired or not. With `prompt=none` the answer is
                 *     `login_required` if someone else is signed in, or if the token cannot be read, such as after its key was
                 *     withdrawn; otherwise one that cannot be read is ignored. One of another application is `invalid_request`.
                 */
                id_token_hint?: components["schemas"]["IdToken"];
                /** @description The email address to fill in on the sign-in page. */
                login_hint?: string;
                /**
                 * @description Seconds since the person last gave their password; if it is longer ago they sign in again. The person
                 *     can remove the parameter in the browser, so compare `auth_time` of the ID token too.
                 */
                max_age?: number;
                /** @description An opaque value that comes back in the ID token and ties it to this browser. Recommended. */
                nonce?: string;
                /**
                 * @description What to show, separated by spaces: `none` (no page at all: an error if one is needed; stands alone),
                 *     `login` (sign in again), `consent` (ask again to allow access), `select_account` (choose who to be).
                 *     A person who has to choose a context does so once in a session for each instance; `login` and
                 *     `select_account` ask again.
                 */
                prompt?: string;
                /**
                 * @description Where the browser comes back to. It must be one of the redirect URIs registered for your application,
                 *     equal in protocol, domain, path and port. It also says which instance the sign-in is for.
                 */
                redirect_uri: string;
                /** @description Request objects are not supported: the answer is `request_not_supported`. */
                request?: string;
                /** @description Request objects by reference are not supported: the answer is `request_uri_not_supported`. */
                request_uri?: string;
                /**
                 * @description How the answer comes back. `query` (the default): in the address. `form_post`: the browser posts it, errors too,
                 *     to your redirect URI (OAuth 2.0 Form Post Response Mode), which must be `https` or `http`; `state` must have no
                 *     line breaks. Any other mode: `invalid_request`, in the query.
                 */
                response_mode?: string;
                /** @description Must be `code`. Another value is `unsupported_response_type`. */
                response_type: components["schemas"]["ResponseType"];
                /**
                 * @description Scopes, separated by spaces: `openid`, `profile`, `email`. One that is not registered for your application
                 *     is `invalid_scope`, as is a request without any.
                 */
                scope: string;
                /** @description Recommended. An opaque value, returned unchanged; compare it when the browser comes back. */
                state?: string;
                /**
                 * @description Preferred languages of the pages, separated by spaces, best first. Languages that are not supported are
                 *     passed over.
                 */
                ui_locales?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["FormPostPage"];
            303: components["responses"]["AuthorizationRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    authorizePost: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["AuthorizationForm"];
            };
        };
        responses: {
            200: components["responses"]["FormPostPage"];
            303: components["responses"]["AuthorizationRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    cancelSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["CancelForm"];
            };
        };
        responses: {
            200: components["responses"]["FormPostPage"];
            303: components["responses"]["CancelRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showChangeEmail: {
        parameters: {
            query: {
                /** @description Why the last try was refused, in a word; the page says it in a sentence. An unknown one says nothing. */
                problem?: string;
                /** @description Opaque secret of the mailed link. It works once and expires. */
                token: components["parameters"]["LinkToken"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ChangeEmailPage"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    changeEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["ChangeEmailForm"];
            };
        };
        responses: {
            303: components["responses"]["EmailChangedRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["LockedOutPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showContexts: {
        parameters: {
            query: {
                /** @description Opaque name of the present sign-in or sign-out. It works only in the browser that began it; that of a finished sign-out leads on in others too. */
                interaction: components["parameters"]["Interaction"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ChooseContextPage"];
            303: components["responses"]["PageRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    chooseContext: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["ChooseContextForm"];
            };
        };
        responses: {
            200: components["responses"]["FormPostPage"];
            303: components["responses"]["PageRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showConsent: {
        parameters: {
            query: {
                /** @description Opaque name of the present sign-in or sign-out. It works only in the browser that began it; that of a finished sign-out leads on in others too. */
                interaction: components["parameters"]["Interaction"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ConsentPage"];
            303: components["responses"]["PageRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    consent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["ConsentForm"];
            };
        };
        responses: {
            200: components["responses"]["FormPostPage"];
            303: components["responses"]["ConsentRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showEmailChanged: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["EmailChangedPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showEmailVerified: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["EmailVerifiedPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    introspect: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your id for this request: 1 to 128 characters of `A-Z a-z 0-9 . _ -`. It is returned and logged, but the log hides
                 *     what looks like a secret, such as 43 or more characters without a dot that have capital and small letters;
                 *     anything else is replaced by an id of ours.
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntrospectionRequest"];
                "application/x-www-form-urlencoded": components["schemas"]["IntrospectionRequest"];
            };
        };
        responses: {
            /** @description Whether the token is in force. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntrospectionResponse"];
                };
            };
            /** @description The request is refused; `error` says why. */
            400: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntrospectionError"];
                };
            };
            /** @description The secret or the application is wrong, wherever they were sent (RFC 7662, section 2.3). */
            401: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "WWW-Authenticate": components["headers"]["BasicChallenge"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntrospectionError"];
                };
            };
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    logout: {
        parameters: {
            query?: {
                /** @description Your application. If `id_token_hint` is sent as well they must agree. */
                client_id?: components["schemas"]["ApplicationId"];
                /**
                 * @description Recommended. An ID token this server gave your application, expired or not: it says who is to be signed
                 *     out, and which application asks. If the person has signed in again since, a page asks the person. An ID token
                 *     of a person with more than a hundred clients can make the address longer than 16 KiB: leave it out then, and the
                 *     page asks.
                 */
                id_token_hint?: components["schemas"]["IdToken"];
                /** @description The email address of the person to sign out. Accepted, and without effect; the page asks the person who is signed in. */
                logout_hint?: string;
                /**
                 * @description Where the browser goes afterwards. It must be one of those registered for your application, character by
                 *     character.
                 */
                post_logout_redirect_uri?: string;
                /** @description An opaque value, added unchanged to `post_logout_redirect_uri`. */
                state?: string;
                /** @description Preferred languages of the pages, separated by spaces, best first. */
                ui_locales?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            303: components["responses"]["LogoutRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    logoutPost: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["LogoutForm"];
            };
        };
        responses: {
            303: components["responses"]["LogoutRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showPasswordSet: {
        parameters: {
            query?: {
                /**
                 * @description At which applications, on which instances, the person can sign in: pairs of their ids, separated by commas.
                 *     They are no secret. The page links to registered addresses only; an unknown pair says nothing.
                 */
                entrances?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PasswordSetPage"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    revoke: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your id for this request: 1 to 128 characters of `A-Z a-z 0-9 . _ -`. It is returned and logged, but the log hides
                 *     what looks like a secret, such as 43 or more characters without a dot that have capital and small letters;
                 *     anything else is replaced by an id of ours.
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevocationRequest"];
                "application/x-www-form-urlencoded": components["schemas"]["RevocationRequest"];
            };
        };
        responses: {
            /**
             * @description The token is no longer valid. The body is an empty JSON object, for libraries that parse it; only the status
             *     matters (RFC 7009).
             */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is refused; `error` says why. */
            400: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevocationError"];
                };
            };
            /** @description HTTP Basic was used and the secret or the application is wrong. */
            401: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "WWW-Authenticate": components["headers"]["BasicChallenge"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevocationError"];
                };
            };
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    showSetPassword: {
        parameters: {
            query: {
                /** @description Why the last try was refused, in a word; the page says it in a sentence. An unknown one says nothing. */
                problem?: string;
                /** @description Opaque secret of the mailed link. It works once and expires. */
                token: components["parameters"]["LinkToken"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["SetPasswordPage"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    setPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["SetPasswordForm"];
            };
        };
        responses: {
            303: components["responses"]["PasswordSetRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showSignIn: {
        parameters: {
            query: {
                /** @description Opaque name of the present sign-in or sign-out. It works only in the browser that began it; that of a finished sign-out leads on in others too. */
                interaction: components["parameters"]["Interaction"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["SignInPage"];
            303: components["responses"]["PageRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["SignInForm"];
            };
        };
        responses: {
            200: components["responses"]["FormPostPage"];
            303: components["responses"]["PageRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["LockedOutPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showSignOut: {
        parameters: {
            query: {
                /** @description Opaque name of the present sign-in or sign-out. It works only in the browser that began it; that of a finished sign-out leads on in others too. */
                interaction: components["parameters"]["Interaction"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["SignOutPage"];
            303: components["responses"]["PageRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["SignOutForm"];
            };
        };
        responses: {
            303: components["responses"]["SignedOutRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    showSignedOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["SignedOutPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    token: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your id for this request: 1 to 128 characters of `A-Z a-z 0-9 . _ -`. It is returned and logged, but the log hides
                 *     what looks like a secret, such as 43 or more characters without a dot that have capital and small letters;
                 *     anything else is replaced by an id of ours.
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenRequest"];
                "application/x-www-form-urlencoded": {
                    /** @description Your application. Required unless HTTP Basic names it. */
                    client_id?: components["schemas"]["ApplicationId"];
                    /**
                     * @description Required for confidential applications, unless HTTP Basic carries it. Public applications have
                     *     none.
                     */
                    client_secret?: components["schemas"]["ClientSecret"];
                    /** @description With `authorization_code`: required. The `code` that came to your redirect URI. */
                    code?: components["schemas"]["AuthorizationCode"];
                    /**
                     * @description With `authorization_code`: required if the authorization request had a `code_challenge`, refused
                     *     if it had none.
                     */
                    code_verifier?: components["schemas"]["CodeVerifier"];
                    /**
                     * @description Which grant this is.
                     * @example authorization_code
                     * @enum {string}
                     */
                    grant_type: "authorization_code" | "refresh_token";
                    /**
                     * Format: uri
                     * @description With `authorization_code`: required. The `redirect_uri` of the authorization request, identical.
                     * @example https://app.example.com/callback
                     */
                    redirect_uri?: string;
                    /** @description With `refresh_token`: required. The refresh token you hold. */
                    refresh_token?: components["schemas"]["RefreshToken"];
                    /**
                     * @description With `refresh_token`: fewer scopes than were granted, separated by spaces. Without it you get all
                     *     of them.
                     * @example openid profile
                     */
                    scope?: string;
                };
            };
        };
        responses: {
            /** @description The tokens. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedTokens"];
                };
            };
            /** @description The request is refused; `error` says why. */
            400: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
            /** @description HTTP Basic was used and the secret or the application is wrong. */
            401: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["AnyOrigin"];
                    "Cache-Control": components["headers"]["NoStore"];
                    Pragma: components["headers"]["Pragma"];
                    "WWW-Authenticate": components["headers"]["BasicChallenge"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    userinfo: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your id for this request: 1 to 128 characters of `A-Z a-z 0-9 . _ -`. It is returned and logged, but the log hides
                 *     what looks like a secret, such as 43 or more characters without a dot that have capital and small letters;
                 *     anything else is replaced by an id of ours.
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Userinfo"];
            400: components["responses"]["UserinfoInvalidRequest"];
            401: components["responses"]["UserinfoInvalidToken"];
            403: components["responses"]["UserinfoInsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    userinfoPost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your id for this request: 1 to 128 characters of `A-Z a-z 0-9 . _ -`. It is returned and logged, but the log hides
                 *     what looks like a secret, such as 43 or more characters without a dot that have capital and small letters;
                 *     anything else is replaced by an id of ours.
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["UserinfoForm"];
            };
        };
        responses: {
            200: components["responses"]["Userinfo"];
            400: components["responses"]["UserinfoInvalidRequest"];
            401: components["responses"]["UserinfoInvalidToken"];
            403: components["responses"]["UserinfoInsufficientScope"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    showVerifyEmail: {
        parameters: {
            query: {
                /** @description Opaque secret of the mailed link. It works once and expires. */
                token: components["parameters"]["LinkToken"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["VerifyEmailPage"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    verifyEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["VerifyEmailForm"];
            };
        };
        responses: {
            303: components["responses"]["EmailVerifiedRedirect"];
            400: components["responses"]["ErrorPage"];
            405: components["responses"]["MethodNotAllowedPage"];
            408: components["responses"]["RequestTimeoutPage"];
            413: components["responses"]["ContentTooLargePage"];
            415: components["responses"]["UnsupportedMediaTypePage"];
            429: components["responses"]["TooManyRequestsPage"];
            500: components["responses"]["InternalErrorPage"];
            503: components["responses"]["UnavailablePage"];
        };
    };
    authorizationResponse: {
        parameters: {
            query: {
                /** @description The authorization code, for one exchange within 10 minutes. Present if the sign-in went well. */
                code?: components["schemas"]["AuthorizationCode"];
                /** @description What went wrong. Present if the sign-in did not succeed. */
                error?: "invalid_request" | "unauthorized_client" | "access_denied" | "unsupported_response_type" | "invalid_scope" | "server_error" | "temporarily_unavailable" | "login_required" | "interaction_required" | "consent_required" | "account_selection_required" | "request_not_supported" | "request_uri_not_supported";
                /** @description What went wrong, for people. Present with `error`; its wording may change. */
                error_description?: string;
                /** @description Issuer URL of this server, the same as in the discovery document. */
                iss: string;
                /** @description The `state` of the authorization request, unchanged. Absent if the request had none, or none that can be returned (two, one with a NUL, or one of more than 4096 characters). */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What your application answers the browser is up to you. A redirect takes the code out of the address. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A good answer to a `state` or `iss` that does not match. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    authorizationResponsePost: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /** @description The authorization code, for one exchange within 10 minutes. Present if the sign-in went well. */
                    code?: components["schemas"]["AuthorizationCode"];
                    /**
                     * AuthorizationErrorCode
                     * @description Why a sign-in did not succeed, as told to the redirect URI. Present only then. New codes may be added.
                     *
                     *     | Code | Meaning |
                     *     |---|---|
                     *     | `invalid_request` | A parameter is missing, repeated or invalid; also a missing or refused `code_challenge`. |
                     *     | `unauthorized_client` | The application may not make this request, or is disabled. |
                     *     | `access_denied` | The person declined, cancelled or has no access on this instance; or the essential `acr` is not supported. |
                     *     | `unsupported_response_type` | `response_type` is not `code`. |
                     *     | `invalid_scope` | `scope` is missing, or a scope is unknown or not registered for the application. |
                     *     | `server_error` | An internal error. Start again. |
                     *     | `temporarily_unavailable` | We are briefly unable to answer. Start again a little later. Sent with `prompt=none`, if the failure comes after the check of the redirect URI; otherwise the person gets an error page (429 or 503). |
                     *     | `login_required` | `prompt=none`, and the person has to sign in; or another person signed in than the one that `id_token_hint` or `claims` names. |
                     *     | `interaction_required` | `prompt=none`, and the person has to choose a context. |
                     *     | `consent_required` | `prompt=none`, and the person has to consent. |
                     *     | `account_selection_required` | `prompt=none`, and the person has to choose an account. Not sent at present. |
                     *     | `request_not_supported` | `request` was sent. |
                     *     | `request_uri_not_supported` | `request_uri` was sent. |
                     * @example access_denied
                     * @enum {string}
                     */
                    error?: "invalid_request" | "unauthorized_client" | "access_denied" | "unsupported_response_type" | "invalid_scope" | "server_error" | "temporarily_unavailable" | "login_required" | "interaction_required" | "consent_required" | "account_selection_required" | "request_not_supported" | "request_uri_not_supported";
                    /**
                     * @description What went wrong, for people. Present with `error`; its wording may change.
                     * @example The person did not approve the request.
                     */
                    error_description?: string;
                    /**
                     * Format: uri
                     * @description Issuer URL of this server, the same as in the discovery document.
                     * @example https://sign-on.example.com
                     */
                    iss: string;
                    /**
                     * @description The `state` of the authorization request, unchanged. Absent if the request had none, or none that can be returned (two, one with a NUL, or one of more than 4096 characters).
                     * @example CqI6pyvXbg_E8lvx2gq5VA
                     */
                    state?: string;
                };
            };
        };
        responses: {
            /** @description What your application answers the browser is up to you. A redirect keeps a reload from sending the code again. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A good answer to a `state` or `iss` that does not match. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
