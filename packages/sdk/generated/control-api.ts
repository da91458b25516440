// Made by tools/build-sdk-sources.mjs: do not edit.

export interface paths {
    "/v1/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * First-run set-up: creates the owner and everything that a first call needs. Open while no user exists. Signs the owner in.
         * @description Faults: `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `setup_closed`, `control_rate_limit_exceeded`.
         */
        post: operations["setup.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The signed-in user, with the organizations and the role in each.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `insufficient_role`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["session.get"];
        put?: never;
        /**
         * Signs in by e-mail and password. The session cookie replaces any previous one.
         * @description Faults: `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `sign_in_failed`, `csrf_failed`, `control_rate_limit_exceeded`.
         */
        post: operations["session.create"];
        /**
         * Ends this session or, with `everywhere=true`, all sessions of the user.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["session.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/bootstrap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Everything that the dashboard needs first: the signed-in user, the organizations, projects and environments, and the addresses of the gateway.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `insufficient_role`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["session.get_bootstrap"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the sign-in page offers.
         * @description Faults: `request_validation_failed`, `invalid_request`, `control_rate_limit_exceeded`.
         */
        get: operations["session.get_options"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Changes the caller's own password. Every session of the user ends; the caller gets a new one.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `sign_in_failed`.
         */
        post: operations["session.change_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sets a new password with an owner's reset link, once, and signs in. Every other session of the user ends.
         * @description Faults: `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `resource_not_found`, `csrf_failed`, `control_rate_limit_exceeded`.
         */
        post: operations["session.reset_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's own saved views of the dashboard's pages, by page and name.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `insufficient_role`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["session.list_views"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/views/{viewId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Saves a view under an id of the caller's choice, in place of an earlier one. Up to 100 in an environment.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `resource_not_found`.
         */
        put: operations["session.put_view"];
        post?: never;
        /**
         * Removes one of the caller's own saved views, if it is there.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["session.delete_view"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The organizations of which the caller is a member.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["orgs.list"];
        put?: never;
        /**
         * Creates an organization, owned by the signed-in user.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["orgs.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{orgId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One organization.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["orgs.get"];
        put?: never;
        post?: never;
        /**
         * Deletes an organization and ends every key below it at once.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["orgs.delete"];
        options?: never;
        head?: never;
        /**
         * Changes an organization. `slug: null` makes the slug from the name again; `time_zone: null` resets the time zone to UTC.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["orgs.update"];
        trace?: never;
    };
    "/v1/orgs/{orgId}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An organization's members and invitations, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["members.list"];
        put?: never;
        /**
         * Invites an e-mail address. The link to accept is in this response only.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["members.invite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members/{memberId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes a member, whose sessions lose the organization at once, or withdraws an invitation.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["members.delete"];
        options?: never;
        head?: never;
        /**
         * Changes a member's role, from the member's next call on.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["members.update"];
        trace?: never;
    };
    "/v1/members/{memberId}/reset-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates a link with which a member can set a new password, once, within an hour. The previous link becomes invalid.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["members.create_reset_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Joins an organization by an invitation: with the session or the `password` of an account of the invited address, or else with a `password` that creates an account. The answer does not tell which.
         * @description Faults: `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `resource_not_found`, `sign_in_failed`, `csrf_failed`, `control_rate_limit_exceeded`.
         */
        post: operations["invitations.accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What an invitation is for, before it is accepted.
         * @description Faults: `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `resource_not_found`, `control_rate_limit_exceeded`.
         */
        post: operations["invitations.lookup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{orgId}/management-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An organization's management keys, newest first, including revoked ones.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["management_keys.list"];
        put?: never;
        /**
         * Creates a management key. Its plaintext is in this response only.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["management_keys.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/management-keys/{keyId}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ends a management key, from the next call on. A second call changes nothing.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["management_keys.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/management-keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revokes the key. The record stays, so that its usage can still be attributed.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["management_keys.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{orgId}/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An organization's projects, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["projects.list"];
        put?: never;
        /**
         * Creates a project with its two environments.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["projects.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One project.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["projects.get"];
        put?: never;
        post?: never;
        /**
         * Deletes a project and ends every key below it at once.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["projects.delete"];
        options?: never;
        head?: never;
        /**
         * Changes a project. `slug: null` makes the slug from the name again; `allowed_origins: null` allows no browser origin.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["projects.update"];
        trace?: never;
    };
    "/v1/projects/{projectId}/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A project's two environments.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["environments.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One environment.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["environments.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Changes an environment's policy. `null` resets a setting to what a new environment has; of `allowed_models` that is every model.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["environments.update"];
        trace?: never;
    };
    "/v1/environments/{envId}/playground-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates a client token with every scope for the caller, valid for 15 minutes and from this host's pages too. Its end user is `member:<id>`, the id of the member or management key. It becomes invalid when the member loses access.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`, `signing_key_unavailable`, `end_user_blocked`.
         */
        post: operations["playground_tokens.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's keys, revoked and expired ones too, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["keys.list"];
        put?: never;
        /**
         * Creates a key. Its plaintext is in this response only.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`, `invalid_scope`.
         */
        post: operations["keys.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One key, without its plaintext.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["keys.get"];
        put?: never;
        post?: never;
        /**
         * Revokes the key. The record stays, so that its usage can still be attributed.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["keys.delete"];
        options?: never;
        head?: never;
        /**
         * Changes an active key. Restrictions that are not sent stay; null removes one, and `restrictions: null` all of them.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `invalid_scope`.
         */
        patch: operations["keys.update"];
        trace?: never;
    };
    "/v1/keys/{keyId}/effective-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Every rule that binds requests with a key now, from its organization down, with what is used.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["keys.get_effective_limits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{keyId}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ends a key at once. A second call changes nothing.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["keys.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}/provider-credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The provider credentials of both of a project's environments, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["provider_credentials.list_in_project"];
        put?: never;
        /**
         * Stores a provider's key for the environment that the body names and asks the provider for its models. The key is never returned.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["provider_credentials.create_in_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/provider-credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's provider credentials, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["provider_credentials.list"];
        put?: never;
        /**
         * Stores a provider's key for an environment and asks the provider for its models. The key is never returned; `validation_error` tells whether the provider accepts it.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["provider_credentials.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provider-credentials/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One provider credential, without its key.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["provider_credentials.get"];
        put?: never;
        post?: never;
        /**
         * Removes a provider credential and its stored key.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["provider_credentials.delete"];
        options?: never;
        head?: never;
        /**
         * Changes a provider credential. A change of `base_url` or `options` needs `api_key` in the same call, and a change of `base_url` needs `options` too if they have a secret one: no stored secret is sent to a new host.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["provider_credentials.update"];
        trace?: never;
    };
    "/v1/orgs/{orgId}/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The operations on an organization's resources with actor and client address, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["audit_log.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{orgId}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An organization's usage, newest bucket first. Requests of the sandbox cost nothing.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["usage.list_of_organization"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A project's usage, newest bucket first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["usage.list_of_project"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's usage, newest bucket first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["usage.list_of_environment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's requests, newest first, without bodies. With `after`: the requests that were stored after that one, in that order.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["logs.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/logs/histogram": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's requests that match the filters of its log, counted over time.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["logs.get_histogram"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's failed requests by error code, most frequent first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["logs.list_errors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/logs/{requestId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One request by its X-Request-Id. Bodies are included if capture was full and the caller has at least the role developer.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["logs.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/catalog/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All providers and the fields of a credential for each, by id.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["catalog.list_providers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/catalog/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All models of the catalogue with their prices, by id.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["catalog.list_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The catalogue as it is for an environment: first the models whose provider it has a credential of.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["catalog.list_for_environment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{keyId}/roll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates a key with the same rights and expiry. Both share the limits, quotas and budgets of the old key, which name the new one from then on. The old key stays valid for the overlap, one hour by default; 0 ends it at once.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["keys.roll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{keyId}/reveal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A publishable key with its plaintext. A secret key is shown at its creation only: 409.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["keys.reveal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provider-credentials/{id}/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Checks the key with its provider and stores the models that it can use. In the record, `validation_error` is null if the key is valid.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["provider_credentials.validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/model-aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's model aliases, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["model_aliases.list"];
        put?: never;
        /**
         * Creates a name in the environment for one of several models. It takes precedence over a model with the same bare name. Targets that cannot be used yet are accepted with a warning.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["model_aliases.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/model-aliases/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One model alias.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["model_aliases.get"];
        put?: never;
        post?: never;
        /**
         * Removes a model alias.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["model_aliases.delete"];
        options?: never;
        head?: never;
        /**
         * Changes the strategy or targets of an alias; its name cannot change. `targets` replaces the whole list.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["model_aliases.update"];
        trace?: never;
    };
    "/v1/model-aliases/{id}/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Returns which target would serve a request for this alias now, and the state of the others.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["model_aliases.dry_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/model-aliases/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Returns which of these targets would serve a request now, without storing an alias.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["model_aliases.dry_run_new"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/custom-models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's own models and prices, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["custom_models.list"];
        put?: never;
        /**
         * Adds a model that the catalogue lacks, or replaces the catalogue's record in this environment. Setting or replacing a price needs the role admin.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["custom_models.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/custom-models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes an environment's record of a model, so that the catalogue applies again. A record with a price, or of a model with a price in the catalogue, needs the role admin.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["custom_models.delete"];
        options?: never;
        head?: never;
        /**
         * Changes an environment's record of a model. Changing a price, or the model of a record that has one or replaces the catalogue's, needs the role admin.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["custom_models.update"];
        trace?: never;
    };
    "/v1/environments/{envId}/circuits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The targets of an environment whose circuit opened, the last opened first. A circuit that nobody used for ten minutes is left out.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["circuits.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's rate limits, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["limits.list"];
        put?: never;
        /**
         * Creates a rate limit for an environment, one of its keys, one of its end users, or every end user without one of its own.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["limits.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{envId}/limits/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Returns how many requests of the last 7 days a rate limit, quota, budget or bound of running requests would have refused, without storing it. Windows of seconds are counted from the full minute, hour or day.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["limits.preview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{orgId}/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The organization's own rate limits, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["limits.list_of_organization"];
        put?: never;
        /**
         * Creates a rate limit for an organization, or for one of its projects, environments or keys.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["limits.create_in_organization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes a rate limit. A limit of the organization needs the role admin.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["limits.delete"];
        options?: never;
        head?: never;
        /**
         * Changes a rate limit. A limit of the organization needs the role admin.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["limits.update"];
        trace?: never;
    };
    "/v1/environments/{envId}/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's quotas, newest first, with the usage of each.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["quotas.list"];
        put?: never;
        /**
         * Creates a quota of requests or tokens for a calendar window. Usage in the window before its creation counts too.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["quotas.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quotas/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes a quota.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["quotas.delete"];
        options?: never;
        head?: never;
        /**
         * Changes a quota. Usage in the current window still counts.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["quotas.update"];
        trace?: never;
    };
    "/v1/projects/{projectId}/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A project's budgets, newest first, with the spend of each.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["budgets.list"];
        put?: never;
        /**
         * Creates a budget for a project, one of its environments or one of its keys. The sandbox counts.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["budgets.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{orgId}/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The organization's own budgets, newest first, with the spend of each.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["budgets.list_of_organization"];
        put?: never;
        /**
         * Creates a budget for an organization, one of its environments or one of its keys. The organization's own spend excludes the sandbox.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["budgets.create_in_organization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/budgets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes a budget.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["budgets.delete"];
        options?: never;
        head?: never;
        /**
         * Changes a budget. Spend in the current window still counts.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["budgets.update"];
        trace?: never;
    };
    "/v1/environments/{envId}/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's plans, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["plans.list"];
        put?: never;
        /**
         * Creates a plan, which limits the end users assigned to it. An absent bound does not limit anything.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`, `invalid_scope`.
         */
        post: operations["plans.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plans/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One plan.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["plans.get"];
        put?: never;
        post?: never;
        /**
         * Removes a plan. End users on it fall back to the default plan at once.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["plans.delete"];
        options?: never;
        head?: never;
        /**
         * Changes a plan, and with it the limits of its end users. `null` removes a bound.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `invalid_scope`.
         */
        patch: operations["plans.update"];
        trace?: never;
    };
    "/v1/environments/{envId}/end-users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An environment's end users with their usage to date.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["end_users.list"];
        put?: never;
        /**
         * Creates an end user's record. Its plan takes precedence over the plan in a token.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`, `attributes_too_large`.
         */
        post: operations["end_users.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/end-users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One end user, with its usage to date.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["end_users.get"];
        put?: never;
        post?: never;
        /**
         * Removes an end user's record: its plan, attributes and block. Its usage stays in the ledger.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["end_users.delete"];
        options?: never;
        head?: never;
        /**
         * Changes an end user's record. Usage follows the external_id.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `attributes_too_large`.
         */
        patch: operations["end_users.update"];
        trace?: never;
    };
    "/v1/end-users/{id}/effective-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Every rule that binds requests of an end user now, from its organization down, with what is used.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["end_users.get_effective_limits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/end-users/{id}/block": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rejects further requests of the end user. A second call changes nothing.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["end_users.block"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/end-users/{id}/unblock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accepts requests of the end user again. A second call changes nothing.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        post: operations["end_users.unblock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}/federated-auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A project's identity provider; 404 if none is set.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["federated_auth.get"];
        /**
         * Sets or replaces a project's identity provider. Its key set is fetched first; a configuration that does not work is rejected.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `federated_config_invalid`.
         */
        put: operations["federated_auth.put"];
        post?: never;
        /**
         * Removes a project's identity provider: its tokens are no longer accepted.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["federated_auth.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}/federated-auth/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Checks an identity token: returns the end user and plan it would give, or why it would be rejected. Issues no token.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`, `federated_auth_not_configured`, `federated_config_invalid`.
         */
        post: operations["federated_auth.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}/device-auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A project's device attestation; 404 if none is set.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["device_auth.get"];
        /**
         * Sets or replaces the apps whose devices may get client tokens with the project's publishable keys.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        put: operations["device_auth.put"];
        post?: never;
        /**
         * Turns a project's device attestation off.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["device_auth.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{orgId}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An organization's webhooks, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["webhooks.list"];
        put?: never;
        /**
         * Sends an organization's events to an address. The signing secret is in this response only.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["webhooks.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes a webhook: no more events are sent to its address.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        delete: operations["webhooks.delete"];
        options?: never;
        head?: never;
        /**
         * Changes a webhook's address or events. Its secret stays.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `resource_conflict`.
         */
        patch: operations["webhooks.update"];
        trace?: never;
    };
    "/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Queues an event `webhook.test` for a webhook's address, signed like every other. One test at a time: 409 while the last one is pending.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `csrf_failed`, `resource_not_found`, `insufficient_role`, `request_validation_failed`, `invalid_request`, `unsupported_media_type`, `request_too_large`, `request_timeout`, `idempotency_conflict`, `resource_conflict`.
         */
        post: operations["webhooks.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A webhook's deliveries of the last 30 days, newest first.
         * @description Faults: `unauthenticated`, `invalid_key`, `key_revoked`, `key_expired`, `control_rate_limit_exceeded`, `resource_not_found`, `request_validation_failed`, `invalid_request`.
         */
        get: operations["webhooks.list_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/oidc/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Begins a sign-in at the OpenID Connect issuer.
         * @description Faults: `sign_in_failed`, `request_validation_failed`, `control_rate_limit_exceeded`; `route_not_found` where sign-in by OIDC is not configured.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description To the issuer. The cookie `rideau_oidc`, or under https `__Host-rideau_oidc`, ties the sign-in to this browser. */
                302: {
                    headers: {
                        Location?: string;
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Default Response */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Completes a sign-in: the issuer sends the browser here.
         * @description Parameters that the issuer adds are accepted. Faults: `sign_in_failed`, `control_rate_limit_exceeded`; `route_not_found` where sign-in by OIDC is not configured.
         */
        get: {
            parameters: {
                query?: {
                    code?: string;
                    state?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description To the dashboard, with the cookie of the session. */
                302: {
                    headers: {
                        Location?: string;
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Default Response */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The page that `doc_url` of every error links to: each code with its status, cause and remedy.
         * @description Needs no credential. `#<code>` leads to a code.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/html": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        InvitationAcceptanceInput: {
            token: string;
            password?: string | null;
            name?: string | null;
        };
        InvitationLookupInput: {
            token: string;
        };
        NewKeyInput: {
            /** @enum {string} */
            kind: "secret" | "publishable";
            name: string;
            scopes?: string[] | null;
            restrictions?: {
                allowed_models?: string[] | null;
                allowed_endpoints?: ("chat" | "embeddings" | "images" | "audio" | "client_tokens" | "device" | "feedback")[] | null;
                max_request_cost_usd?: number | null;
            } | null;
            expires_at?: string | null;
        };
        ManagementKeyRequestInput: {
            name: string;
            /** @enum {string} */
            role: "admin" | "developer" | "viewer";
            expires_at?: string | null;
        };
        InvitationInput: {
            email: string;
            /** @enum {string} */
            role: "viewer" | "developer" | "admin" | "owner";
        };
        MemberChangeInput: {
            /** @enum {string} */
            role?: "viewer" | "developer" | "admin" | "owner";
        };
        NewCustomModelInput: {
            /** @description `provider/model` */
            model: string;
            capabilities: ("chat" | "tools" | "response_format" | "vision" | "reasoning" | "embeddings" | "images" | "transcription" | "speech" | "rerank")[];
            context_window?: number | null;
            max_output_tokens?: number | null;
            /** @description Needs the role admin. Absent or null: unknown, which is not the same as zero. */
            pricing?: {
                input_usd_per_mtok: number;
                output_usd_per_mtok: number;
                cached_input_usd_per_mtok?: number | null;
                cache_write_usd_per_mtok?: number | null;
            } | null;
        };
        CustomModelChangesInput: {
            /** @description `provider/model` */
            model?: string;
            capabilities?: ("chat" | "tools" | "response_format" | "vision" | "reasoning" | "embeddings" | "images" | "transcription" | "speech" | "rerank")[];
            context_window?: number | null;
            max_output_tokens?: number | null;
            /** @description Needs the role admin. Absent or null: unknown, which is not the same as zero. */
            pricing?: {
                input_usd_per_mtok: number;
                output_usd_per_mtok: number;
                cached_input_usd_per_mtok?: number | null;
                cache_write_usd_per_mtok?: number | null;
            } | null;
        };
        KeyRollInput: {
            overlap_seconds?: number | null;
            overlap_hours?: number | null;
        };
        KeyChangesInput: {
            name?: string;
            scopes?: string[] | null;
            restrictions?: {
                allowed_models?: string[] | null;
                allowed_endpoints?: ("chat" | "embeddings" | "images" | "audio" | "client_tokens" | "device" | "feedback")[] | null;
                max_request_cost_usd?: number | null;
            } | null;
            expires_at?: string | null;
        };
        NewModelAliasInput: {
            alias: string;
            /** @enum {string} */
            strategy: "priority" | "weighted" | "lowest_latency" | "lowest_cost";
            targets: {
                /** @description `provider/model` or a bare name; never another alias. */
                model: string;
                /** @description For the strategy weighted. Default: 1. */
                weight?: number | null;
                /** @description Of one attempt: how long the whole answer, or the next event of a stream, may take. Default: 300,000, of audio 600,000. A shorter one of the request counts first. */
                timeout_ms?: number | null;
                /** @description Further attempts at this target before the next, other credentials included. Absent: it shares three attempts with all targets without it. One request makes at most 24. */
                max_retries?: number | null;
            }[];
        };
        ModelAliasQuestionInput: {
            /** @description The capabilities that the request needs. Default: chat. */
            capabilities?: ("chat" | "tools" | "response_format" | "vision" | "reasoning" | "embeddings" | "images" | "transcription" | "speech" | "rerank")[] | null;
        };
        NewModelAliasQuestionInput: {
            alias: string;
            /** @enum {string} */
            strategy: "priority" | "weighted" | "lowest_latency" | "lowest_cost";
            targets: {
                /** @description `provider/model` or a bare name; never another alias. */
                model: string;
                /** @description For the strategy weighted. Default: 1. */
                weight?: number | null;
                /** @description Of one attempt: how long the whole answer, or the next event of a stream, may take. Default: 300,000, of audio 600,000. A shorter one of the request counts first. */
                timeout_ms?: number | null;
                /** @description Further attempts at this target before the next, other credentials included. Absent: it shares three attempts with all targets without it. One request makes at most 24. */
                max_retries?: number | null;
            }[];
            /** @description The capabilities that the request needs. Default: chat. */
            capabilities?: ("chat" | "tools" | "response_format" | "vision" | "reasoning" | "embeddings" | "images" | "transcription" | "speech" | "rerank")[] | null;
        };
        ModelAliasChangesInput: {
            /** @enum {string} */
            strategy?: "priority" | "weighted" | "lowest_latency" | "lowest_cost";
            targets?: {
                /** @description `provider/model` or a bare name; never another alias. */
                model: string;
                /** @description For the strategy weighted. Default: 1. */
                weight?: number | null;
                /** @description Of one attempt: how long the whole answer, or the next event of a stream, may take. Default: 300,000, of audio 600,000. A shorter one of the request counts first. */
                timeout_ms?: number | null;
                /** @description Further attempts at this target before the next, other credentials included. Absent: it shares three attempts with all targets without it. One request makes at most 24. */
                max_retries?: number | null;
            }[];
        };
        ProviderCredentialChangesInput: {
            name?: string;
            api_key?: string | null;
            base_url?: string | null;
            options?: {
                [key: string]: unknown;
            } | null;
            weight?: number | null;
        };
        NewOrganizationInput: {
            name: string;
            slug?: string | null;
            time_zone?: string | null;
        };
        OrganizationChangeInput: {
            name?: string;
            slug?: string | null;
            time_zone?: string | null;
        };
        NewBudgetInput: {
            limit_usd: number;
            /** @enum {string} */
            window: "day" | "week" | "month" | "total";
            /** @description Default: the whole organization or project. */
            scope?: ("environment" | "key") | null;
            scope_ref?: string | null;
            /** @description Percentages of limit_usd; each raises `budget.alert` once per window. */
            alert_pcts?: number[] | null;
            /** @description What happens to a request whose explicit maximum of output tokens does not fit what is left: `cap` (default) lowers the maximum and names it in `X-Rideau-Output-Cap`, `refuse` answers 402 `budget_exceeded`. */
            on_tight?: ("cap" | "refuse") | null;
        };
        BudgetChangeInput: {
            limit_usd?: number;
            /** @enum {string} */
            window?: "day" | "week" | "month" | "total";
            /** @description Default: the whole organization or project. */
            scope?: ("environment" | "key") | null;
            scope_ref?: string | null;
            /** @description Percentages of limit_usd; each raises `budget.alert` once per window. */
            alert_pcts?: number[] | null;
            /** @description What happens to a request whose explicit maximum of output tokens does not fit what is left: `cap` (default) lowers the maximum and names it in `X-Rideau-Output-Cap`, `refuse` answers 402 `budget_exceeded`. */
            on_tight?: ("cap" | "refuse") | null;
        };
        DeviceAuthSettingsInput: {
            ios?: {
                team_id: string;
                bundle_ids: string[];
                /** @enum {string} */
                environment: "production" | "development";
                device_check?: {
                    key_id: string;
                    /** @description Required with a new key_id. Absent: the stored key of the same key_id stays. */
                    private_key?: string | null;
                } | null;
            } | null;
            android?: {
                package_names: string[];
                /** @description SHA-256 of the apps' signing certificates. */
                signing_digests: string[];
            } | null;
        };
        NewEndUserInput: {
            external_id: string;
            /** @description A plan's name or id. */
            plan?: string | null;
            attributes?: {
                [key: string]: unknown;
            } | null;
        };
        EndUserChangeInput: {
            external_id?: string;
            /** @description A plan's name or id. */
            plan?: string | null;
            attributes?: {
                [key: string]: unknown;
            } | null;
        };
        FederatedAuthSettingsInput: {
            issuer: string | string[];
            audiences?: string[] | null;
            authorized_parties?: string[] | null;
            jwks_url?: string | null;
            algorithms?: string[] | null;
            user_id_claim?: string | null;
            plan_claim?: string | null;
            /** @description Accepted values by claim: a token must have one of the values of each claim. */
            required_claims?: {
                [key: string]: (string | number | boolean) | (string | number | boolean)[];
            } | null;
            clock_tolerance_seconds?: number | null;
            max_token_age_seconds?: number | null;
        };
        FederatedAuthTestRequestInput: {
            identity_token: string;
        };
        NewLimitInput: {
            /** @enum {string} */
            scope: "org" | "project" | "environment" | "key" | "end_user" | "default_end_user";
            scope_ref?: string | null;
            /** @enum {string} */
            metric: "requests" | "tokens" | "concurrency";
            limit: number;
            /** @description For requests and tokens, up to 31 days. Default: 60. */
            window_seconds?: number | null;
        };
        LimitChangeInput: {
            /** @enum {string} */
            scope?: "org" | "project" | "environment" | "key" | "end_user" | "default_end_user";
            scope_ref?: string | null;
            /** @enum {string} */
            metric?: "requests" | "tokens" | "concurrency";
            limit?: number;
            /** @description For requests and tokens, up to 31 days. Default: 60. */
            window_seconds?: number | null;
        };
        LimitQuestionInput: {
            /** @enum {string} */
            scope: "environment" | "key" | "end_user" | "default_end_user";
            scope_ref?: string | null;
            /**
             * @description `usd`: of a budget. `concurrency`: running requests, without a window.
             * @enum {string}
             */
            metric: "requests" | "tokens" | "usd" | "concurrency";
            limit: number;
            /** @description Of a rate limit. */
            window_seconds?: number | null;
            /** @description Of a quota or budget, instead of `window_seconds`. */
            window?: ("hour" | "day" | "week" | "month") | null;
            /** @description Of `usd`: leaves the sandbox out, as budgets of the organization do. Default: false. */
            real_only?: boolean | null;
        };
        NewPlanInput: {
            name: string;
            allowed_models?: string[] | null;
            scopes?: string[] | null;
            requests_per_minute?: number | null;
            max_concurrency?: number | null;
            tokens_per_day?: number | null;
            usd_per_month?: number | null;
            /** @description At most one plan of an environment is the default; a new default replaces the old one. */
            is_default?: boolean | null;
        };
        PlanChangeInput: {
            name?: string;
            allowed_models?: string[] | null;
            scopes?: string[] | null;
            requests_per_minute?: number | null;
            max_concurrency?: number | null;
            tokens_per_day?: number | null;
            usd_per_month?: number | null;
            /** @description At most one plan of an environment is the default; a new default replaces the old one. */
            is_default?: boolean | null;
        };
        NewQuotaInput: {
            /** @enum {string} */
            scope: "environment" | "key" | "end_user" | "default_end_user";
            scope_ref?: string | null;
            /** @enum {string} */
            metric: "requests" | "tokens";
            /** @enum {string} */
            window: "hour" | "day" | "week" | "month";
            limit: number;
            /** @description Requests are rejected above limit × (1 + grace_pct / 100). Default: 0. */
            grace_pct?: number | null;
        };
        QuotaChangeInput: {
            /** @enum {string} */
            scope?: "environment" | "key" | "end_user" | "default_end_user";
            scope_ref?: string | null;
            /** @enum {string} */
            metric?: "requests" | "tokens";
            /** @enum {string} */
            window?: "hour" | "day" | "week" | "month";
            limit?: number;
            /** @description Requests are rejected above limit × (1 + grace_pct / 100). Default: 0. */
            grace_pct?: number | null;
        };
        NewWebhookInput: {
            url: string;
            events: ("budget.alert" | "quota.alert" | "credential.invalid" | "circuit.open")[];
        };
        WebhookChangeInput: {
            url?: string;
            events?: ("budget.alert" | "quota.alert" | "credential.invalid" | "circuit.open")[];
        };
        NewProjectInput: {
            name: string;
            slug?: string | null;
            allowed_origins?: string[] | null;
        };
        ProjectChangeInput: {
            name?: string;
            slug?: string | null;
            allowed_origins?: string[] | null;
        };
        NewProviderCredentialInput: {
            provider: string;
            name: string;
            api_key?: string | null;
            base_url?: string | null;
            options?: {
                [key: string]: unknown;
            } | null;
            weight?: number | null;
        };
        NewProjectProviderCredentialInput: {
            /** Format: uuid */
            environment_id: string;
            provider: string;
            name: string;
            api_key?: string | null;
            base_url?: string | null;
            options?: {
                [key: string]: unknown;
            } | null;
            weight?: number | null;
        };
        NewSavedViewInput: {
            /** Format: uuid */
            environment_id: string;
            /** @enum {string} */
            page: "overview" | "logs" | "usage" | "end-users" | "keys";
            name: string;
            search: string;
        };
        PasswordChangeInput: {
            current_password: string;
            new_password: string;
        };
        SignInInput: {
            email: string;
            password: string;
        };
        PasswordResetInput: {
            reset_token: string;
            new_password: string;
        };
        SetupRequestInput: {
            setup_token: string;
            email: string;
            password: string;
            name?: string | null;
            organization: {
                name: string;
            };
        };
        AuditEntry: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            /** Format: date-time */
            created_at: string;
            actor: {
                /**
                 * @description `system`: an automatic event, such as `budget.alert`.
                 * @enum {string}
                 */
                kind: "member" | "management_key" | "anonymous" | "system";
                id: string | null;
                name: string | null;
            };
            operation: string;
            resource: {
                kind: string;
                id: string | null;
            };
            /** @description The record before the operation, without secrets; null if there was none. */
            before: unknown;
            /** @description The result of the operation, without secrets. */
            after: unknown;
            /** @description Empty for the actor `system`. */
            client_address: string;
            /** Format: uuid */
            request_id: string;
        };
        CatalogModel: {
            id: string;
            provider: string;
            display_name: string;
            context_window: number | null;
            max_output_tokens: number | null;
            capabilities: string[];
            pricing: {
                input_usd_per_mtok: number;
                output_usd_per_mtok: number;
                cached_input_usd_per_mtok: number | null;
                cache_write_usd_per_mtok: number | null;
            } | null;
            image_pricing: {
                usd_per_image: number | null;
                text_input_usd_per_mtok: number | null;
                image_input_usd_per_mtok: number | null;
                text_output_usd_per_mtok: number | null;
                image_output_usd_per_mtok: number | null;
            } | null;
            audio_pricing: {
                usd_per_hour: number | null;
                /** @description Each request is billed for at least so many seconds. */
                min_seconds: number | null;
                usd_per_million_characters: number | null;
                text_input_usd_per_mtok: number | null;
                audio_input_usd_per_mtok: number | null;
                text_output_usd_per_mtok: number | null;
                audio_output_usd_per_mtok: number | null;
            } | null;
            rerank_pricing: {
                usd_per_search: number | null;
                input_usd_per_mtok: number | null;
            } | null;
        };
        CallableModel: {
            id: string;
            provider: string;
            display_name: string;
            context_window: number | null;
            max_output_tokens: number | null;
            capabilities: string[];
            pricing: {
                input_usd_per_mtok: number;
                output_usd_per_mtok: number;
                cached_input_usd_per_mtok: number | null;
                cache_write_usd_per_mtok: number | null;
            } | null;
            image_pricing: {
                usd_per_image: number | null;
                text_input_usd_per_mtok: number | null;
                image_input_usd_per_mtok: number | null;
                text_output_usd_per_mtok: number | null;
                image_output_usd_per_mtok: number | null;
            } | null;
            audio_pricing: {
                usd_per_hour: number | null;
                /** @description Each request is billed for at least so many seconds. */
                min_seconds: number | null;
                usd_per_million_characters: number | null;
                text_input_usd_per_mtok: number | null;
                audio_input_usd_per_mtok: number | null;
                text_output_usd_per_mtok: number | null;
                audio_output_usd_per_mtok: number | null;
            } | null;
            rerank_pricing: {
                usd_per_search: number | null;
                input_usd_per_mtok: number | null;
            } | null;
            /** @description The environment has a credential of its provider. */
            is_callable: boolean;
        };
        CatalogProvider: {
            id: string;
            name: string;
            base_url: string | null;
            /** @enum {string} */
            models: "catalog" | "any";
            sandbox: boolean;
            keys_url: string | null;
            credential_fields: {
                /** @description In the body: `api_key`, `base_url`, or `options.` and a name. */
                name: string;
                required: boolean;
                label: string;
                help: string;
                /** @description Never returned, and to be hidden while it is typed. */
                secret: boolean;
                /**
                 * @description `lines`: a document, such as JSON. `map`: an object of texts.
                 * @enum {string}
                 */
                type: "text" | "lines" | "map";
            }[];
        };
        EffectiveLimit: {
            /** @enum {string} */
            kind: "limit" | "quota" | "budget" | "plan";
            /**
             * Format: uuid
             * @description Of the limit, quota, budget or plan.
             */
            id: string;
            /**
             * @description Whose requests count together.
             * @enum {string}
             */
            scope: "org" | "project" | "environment" | "key" | "end_user";
            /** @enum {string} */
            metric: "requests" | "tokens" | "usd" | "concurrency";
            /** @description Without the grace of a quota; US dollars for `usd`. */
            limit: number;
            /** @description Of quotas, budgets and plans. */
            window: ("hour" | "day" | "week" | "month" | "total") | null;
            /** @description Of rate limits. */
            window_seconds: number | null;
            /** @description By ended requests in the current window; null where the control plane cannot ask a gateway. */
            used: number | null;
            /** @description By running requests; null where `used` is. */
            reserved: number | null;
            /** @description null: it slides, or never ends. */
            resets_at: string | null;
            /** @description What a request beyond it is answered with. */
            error_code: string;
            excludes_sandbox: boolean;
        };
        EffectiveLimits: {
            data: components["schemas"]["EffectiveLimit"][];
            has_more: boolean;
            next_cursor: string | null;
            /** @description The plan of the end user, its own or the default one. */
            plan: string | null;
            /** @description What binds besides, that this list cannot show. */
            note: string | null;
        };
        Environment: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            /** Format: uuid */
            project_id: string;
            /** @enum {string} */
            name: "development" | "production";
            is_default: boolean;
            log_retention_days: number;
            /** @enum {string} */
            log_capture: "full" | "metadata";
            allowed_models: string[] | null;
            /** @enum {string} */
            unsupported_params: "refuse" | "drop";
            /** @enum {string} */
            on_client_gone: "cancel" | "drain";
            allow_client_passthrough: boolean;
            allow_secret_key_in_browser: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        Member: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string | null;
            } | null;
            /** @enum {string} */
            role: "viewer" | "developer" | "admin" | "owner";
            invite_email: string | null;
            /** @description The user who invited. Where a management key did, the user who created the key, or the id of the key if that is unknown. null: nobody did. */
            invited_by: string | null;
            accepted_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        InvitedMember: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string | null;
            } | null;
            /** @enum {string} */
            role: "viewer" | "developer" | "admin" | "owner";
            invite_email: string | null;
            /** @description The user who invited. Where a management key did, the user who created the key, or the id of the key if that is unknown. null: nobody did. */
            invited_by: string | null;
            accepted_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            accept_url: string;
        };
        InvitationDetails: {
            organization: {
                name: string;
            };
            email: string;
            /** @enum {string} */
            role: "viewer" | "developer" | "admin" | "owner";
            /** Format: date-time */
            expires_at: string;
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            environment_id: string;
            /** Format: uuid */
            project_id: string;
            /** @enum {string} */
            kind: "secret" | "publishable";
            name: string;
            prefix_display: string;
            scopes: ("ai.chat" | "ai.embed" | "ai.images" | "feedback")[];
            restrictions: {
                allowed_models: string[] | null;
                allowed_endpoints: ("chat" | "embeddings" | "images" | "audio" | "client_tokens" | "device" | "feedback")[] | null;
                max_request_cost_usd: number | null;
            };
            expires_at: string | null;
            revoked_at: string | null;
            rolled_to: string | null;
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        NewApiKey: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            environment_id: string;
            /** Format: uuid */
            project_id: string;
            /** @enum {string} */
            kind: "secret" | "publishable";
            name: string;
            prefix_display: string;
            scopes: ("ai.chat" | "ai.embed" | "ai.images" | "feedback")[];
            restrictions: {
                allowed_models: string[] | null;
                allowed_endpoints: ("chat" | "embeddings" | "images" | "audio" | "client_tokens" | "device" | "feedback")[] | null;
                max_request_cost_usd: number | null;
            };
            expires_at: string | null;
            revoked_at: string | null;
            rolled_to: string | null;
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            key: string;
        };
        CostPart: {
            /**
             * @description `output` includes reasoning; `request` is the price of the request itself.
             * @enum {string}
             */
            kind: "input" | "cache_read" | "cache_write" | "output" | "request";
            tokens: number | null;
            usd_per_mtok: number | null;
            cost_usd: number;
        };
        RequestLog: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            request_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            key_id: string | null;
            end_user_id: string | null;
            endpoint: string;
            surface: string;
            model_requested: string | null;
            provider: string | null;
            model: string | null;
            stream: boolean;
            status: number;
            error_code: string | null;
            /** @description The provider's own message where it refused the request as invalid: at most 500 characters, without keys, and null for requests of client tokens. */
            provider_message: string | null;
            finish_reason: string | null;
            /** @description The `user` that the body named. Never an identity. */
            user: string | null;
            queue_ms: number;
            first_byte_ms: number | null;
            total_ms: number;
            usage: {
                input_tokens: number;
                output_tokens: number;
                total_tokens: number;
                input_tokens_details: {
                    cached_tokens: number;
                    cache_write_tokens: number;
                };
                output_tokens_details: {
                    reasoning_tokens: number;
                };
            };
            usage_estimated: boolean;
            cost_usd: number | null;
            hold: {
                tokens: number;
                cost_usd: number | null;
            } | null;
            settlement: {
                tokens: number;
                cost_usd: number | null;
                estimated: boolean;
            } | null;
            /** @description The output tokens of one choice that the provider was asked for at most, where a limit let the gateway ask for fewer than the caller did. */
            output_cap: number | null;
            feedback: {
                score: number;
                comment: string | null;
                tags: string[];
                /** Format: date-time */
                created_at: string;
            } | null;
            sandbox: boolean;
            attempts: {
                target: string;
                credential_id: string;
                status: number | null;
                error: string | null;
                /** @description After the arrival of the request. Null for requests of an earlier version. */
                start_ms: number | null;
                ms: number;
                /** @description What an attempt cost whose answer was lost. Null: it lost none, or its price is unknown. */
                lost_cost_usd: number | null;
            }[];
            metadata: {
                [key: string]: string;
            } | null;
        };
        RequestLogDetail: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            request_id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            key_id: string | null;
            end_user_id: string | null;
            endpoint: string;
            surface: string;
            model_requested: string | null;
            provider: string | null;
            model: string | null;
            stream: boolean;
            status: number;
            error_code: string | null;
            /** @description The provider's own message where it refused the request as invalid: at most 500 characters, without keys, and null for requests of client tokens. */
            provider_message: string | null;
            finish_reason: string | null;
            /** @description The `user` that the body named. Never an identity. */
            user: string | null;
            queue_ms: number;
            first_byte_ms: number | null;
            total_ms: number;
            usage: {
                input_tokens: number;
                output_tokens: number;
                total_tokens: number;
                input_tokens_details: {
                    cached_tokens: number;
                    cache_write_tokens: number;
                };
                output_tokens_details: {
                    reasoning_tokens: number;
                };
            };
            usage_estimated: boolean;
            cost_usd: number | null;
            hold: {
                tokens: number;
                cost_usd: number | null;
            } | null;
            settlement: {
                tokens: number;
                cost_usd: number | null;
                estimated: boolean;
            } | null;
            /** @description The output tokens of one choice that the provider was asked for at most, where a limit let the gateway ask for fewer than the caller did. */
            output_cap: number | null;
            feedback: {
                score: number;
                comment: string | null;
                tags: string[];
                /** Format: date-time */
                created_at: string;
            } | null;
            sandbox: boolean;
            attempts: {
                target: string;
                credential_id: string;
                status: number | null;
                error: string | null;
                /** @description After the arrival of the request. Null for requests of an earlier version. */
                start_ms: number | null;
                ms: number;
                /** @description What an attempt cost whose answer was lost. Null: it lost none, or its price is unknown. */
                lost_cost_usd: number | null;
            }[];
            metadata: {
                [key: string]: string;
            } | null;
            /** @description How the cost is made up by the model's prices of today; null if they do not give the recorded cost, such as after a change of prices or where a failed attempt or a hosted tool was charged. */
            cost_parts: components["schemas"]["CostPart"][] | null;
            /** @description Parameters that were left out, or a `temperature` that was fitted to a smaller scale, because the target could not honour them, as `X-Rideau-Dropped-Params` names them. null: none, or a request of an earlier version. */
            dropped_params: string[] | null;
            /** @description The limits that the request was checked against: of a request that a limit refused that limit only. null: none applied, the request was refused before, or it is of an earlier version. */
            checked_limits: {
                /** @enum {string} */
                kind: "limit" | "quota" | "budget" | "plan";
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                scope: "org" | "project" | "environment" | "key" | "end_user";
                /** @enum {string} */
                metric: "requests" | "tokens" | "usd" | "concurrency";
                limit: number;
                /** @description By this request. */
                reserved: number;
                /** @description After this request's reservation. */
                remaining: number;
                /** @description What the limit refused: the request, of which nothing was reserved then, or more output while it ran. null: nothing. */
                refused: number | null;
            }[] | null;
            /**
             * @description Why bodies are absent. `role`: they need the role developer. `not_captured`: the environment kept metadata only, or there were none.
             * @enum {string}
             */
            bodies: "included" | "role" | "not_captured";
            request_body: string | null;
            response_body: string | null;
        };
        LogHistogram: {
            /** @description Every bucket of the time, oldest first. `errors`: statuses from 400 on. */
            data: {
                /** Format: date-time */
                at: string;
                requests: number;
                errors: number;
            }[];
            bucket_seconds: number;
            /**
             * Format: date-time
             * @description Since when they are counted.
             */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description False: at least 20000 requests match, of which the newest are counted. */
            is_complete: boolean;
        };
        ErrorCount: {
            error_code: string;
            provider?: string | null;
            model?: string | null;
            requests: number;
            /** Format: date-time */
            last_at: string;
            /**
             * Format: uuid
             * @description X-Request-Id of the latest.
             */
            request_id: string;
        };
        ErrorCounts: {
            /** @description Of at most 100, most frequent first. */
            data: components["schemas"]["ErrorCount"][];
            has_more: boolean;
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description Since when they are counted.
             */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description False: there were more than 20000 failed requests, of which the newest are counted. */
            is_complete: boolean;
        };
        ManagementKey: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            name: string;
            /** @enum {string} */
            role: "admin" | "developer" | "viewer";
            prefix_display: string;
            expires_at: string | null;
            revoked_at: string | null;
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        NewManagementKey: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            name: string;
            /** @enum {string} */
            role: "admin" | "developer" | "viewer";
            prefix_display: string;
            expires_at: string | null;
            revoked_at: string | null;
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            key: string;
        };
        ResetLink: {
            reset_url: string;
            /** Format: date-time */
            expires_at: string;
        };
        Circuit: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            provider: string;
            /** @description `provider/model`. */
            model: string;
            /** Format: uuid */
            credential_id: string;
            /**
             * @description `half_open`: the next request is a probe, or one is under way.
             * @enum {string}
             */
            state: "closed" | "open" | "half_open";
            /** @description The share of failed calls when it last opened, 0 to 1. */
            failure_rate: number;
            /**
             * Format: date-time
             * @description When it last opened.
             */
            opened_at: string;
            /** @description When the next probe is due; null: it is closed. */
            retry_at: string | null;
            /** Format: date-time */
            updated_at: string;
        };
        CustomModel: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            model: string;
            capabilities: ("chat" | "tools" | "response_format" | "vision" | "reasoning" | "embeddings" | "images" | "transcription" | "speech" | "rerank")[];
            context_window: number | null;
            max_output_tokens: number | null;
            pricing: {
                input_usd_per_mtok: number;
                output_usd_per_mtok: number;
                cached_input_usd_per_mtok: number | null;
                cache_write_usd_per_mtok: number | null;
            } | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        RevealedKey: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            environment_id: string;
            /** Format: uuid */
            project_id: string;
            /** @enum {string} */
            kind: "secret" | "publishable";
            name: string;
            prefix_display: string;
            scopes: ("ai.chat" | "ai.embed" | "ai.images" | "feedback")[];
            restrictions: {
                allowed_models: string[] | null;
                allowed_endpoints: ("chat" | "embeddings" | "images" | "audio" | "client_tokens" | "device" | "feedback")[] | null;
                max_request_cost_usd: number | null;
            };
            expires_at: string | null;
            revoked_at: string | null;
            rolled_to: string | null;
            last_used_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            key: string;
        };
        ModelAlias: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            alias: string;
            /** @enum {string} */
            strategy: "priority" | "weighted" | "lowest_latency" | "lowest_cost";
            targets: {
                model: string;
                weight: number | null;
                timeout_ms: number | null;
                max_retries: number | null;
            }[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        WrittenModelAlias: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            alias: string;
            /** @enum {string} */
            strategy: "priority" | "weighted" | "lowest_latency" | "lowest_cost";
            targets: {
                model: string;
                weight: number | null;
                timeout_ms: number | null;
                max_retries: number | null;
            }[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description The targets that no request could use now, with the reason. Empty if all can be used. */
            warnings: {
                /** @description The target, as the alias names it. */
                model: string;
                /** @enum {string} */
                code: "invalid_request" | "request_validation_failed" | "model_missing_capability" | "provider_credential_missing" | "request_canceled" | "invalid_scope" | "attributes_too_large" | "federated_auth_not_configured" | "federated_config_invalid" | "device_attest_not_configured" | "provider_rejected" | "context_length_exceeded" | "content_filtered" | "model_unpriced" | "request_timeout" | "resource_conflict" | "request_too_large" | "unsupported_media_type" | "unauthenticated" | "invalid_key" | "key_expired" | "key_revoked" | "invalid_identity_token" | "invalid_device_attestation" | "sign_in_failed" | "endpoint_not_allowed" | "model_not_allowed" | "end_user_blocked" | "insufficient_role" | "client_token_cannot_mint" | "publishable_key_required" | "origin_not_allowed" | "csrf_failed" | "setup_closed" | "route_not_found" | "model_not_found" | "no_eligible_target" | "embeddings_not_supported" | "resource_not_found" | "idempotency_conflict" | "budget_exceeded" | "rate_limit_exceeded" | "concurrency_limit_exceeded" | "end_user_rpm_exceeded" | "mint_rate_limit_exceeded" | "control_rate_limit_exceeded" | "quota_exceeded" | "provider_unavailable" | "provider_overloaded" | "provider_auth_failed" | "timeout" | "stream_interrupted" | "signing_key_unavailable" | "internal_error" | "config_unavailable";
                message: string;
            }[];
        };
        ModelAliasDryRun: {
            alias: string;
            /** @enum {string} */
            strategy: "priority" | "weighted" | "lowest_latency" | "lowest_cost";
            /** @description The target of the first attempt; null if none is usable. Under `weighted` the likeliest one; under `lowest_latency` the first in the list, since only each gateway knows its measured latencies. */
            serves: string | null;
            targets: {
                model: string;
                /** @description The `provider/model` that the target resolves to; null if there is none. */
                resolved: string | null;
                usable: boolean;
                /** @description The fault of an unusable target; null for a usable one. */
                reason: ("invalid_request" | "request_validation_failed" | "model_missing_capability" | "provider_credential_missing" | "request_canceled" | "invalid_scope" | "attributes_too_large" | "federated_auth_not_configured" | "federated_config_invalid" | "device_attest_not_configured" | "provider_rejected" | "context_length_exceeded" | "content_filtered" | "model_unpriced" | "request_timeout" | "resource_conflict" | "request_too_large" | "unsupported_media_type" | "unauthenticated" | "invalid_key" | "key_expired" | "key_revoked" | "invalid_identity_token" | "invalid_device_attestation" | "sign_in_failed" | "endpoint_not_allowed" | "model_not_allowed" | "end_user_blocked" | "insufficient_role" | "client_token_cannot_mint" | "publishable_key_required" | "origin_not_allowed" | "csrf_failed" | "setup_closed" | "route_not_found" | "model_not_found" | "no_eligible_target" | "embeddings_not_supported" | "resource_not_found" | "idempotency_conflict" | "budget_exceeded" | "rate_limit_exceeded" | "concurrency_limit_exceeded" | "end_user_rpm_exceeded" | "mint_rate_limit_exceeded" | "control_rate_limit_exceeded" | "quota_exceeded" | "provider_unavailable" | "provider_overloaded" | "provider_auth_failed" | "timeout" | "stream_interrupted" | "signing_key_unavailable" | "internal_error" | "config_unavailable") | null;
                message: string;
                /** @description Under `weighted`, the share of first attempts: 0.25 is every fourth. */
                share: number | null;
            }[];
        };
        ProviderCredential: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            provider: string;
            name: string;
            key_fingerprint: string;
            base_url: string | null;
            /** @description As they were set, without secret ones such as a session token. */
            options: {
                [key: string]: unknown;
            };
            weight: number;
            last_validated_at: string | null;
            validation_error: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        Organization: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            time_zone: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        ClientToken: {
            token: string;
            /** Format: date-time */
            expires_at: string;
            end_user_id: string;
        };
        Budget: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            project_id: string | null;
            scope: ("environment" | "key") | null;
            scope_ref: string | null;
            /** @enum {string} */
            window: "day" | "week" | "month" | "total";
            limit_usd: number;
            alert_pcts: number[];
            /** @enum {string} */
            on_tight: "cap" | "refuse";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            spent_usd: number;
            /** @description Reserved by running requests; null if the control plane cannot read the gateway's counters. */
            reserved_usd: number | null;
            /** @description An estimate of what will be spent when the window ends: what is spent, and the mean of the last 7 whole days for the time that is left. null: the window never ends, or those days had no requests. */
            projected_usd: number | null;
            resets_at: string | null;
        };
        DeviceAuth: {
            /** Format: uuid */
            project_id: string;
            ios: {
                team_id: string;
                bundle_ids: string[];
                /** @enum {string} */
                environment: "production" | "development";
                device_check: {
                    key_id: string;
                } | null;
            } | null;
            android: {
                package_names: string[];
                /** @description In lower-case hex. */
                signing_digests: string[];
            } | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        EndUser: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            external_id: string;
            /** @description The plan's name; null: the default plan, if there is one. */
            plan: string | null;
            attributes: {
                [key: string]: unknown;
            };
            blocked_at: string | null;
            last_seen_at: string | null;
            /** @description To date. */
            usage: {
                requests: number;
                input_tokens: number;
                output_tokens: number;
                cost_usd: number;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        FederatedAuth: {
            /** Format: uuid */
            project_id: string;
            issuer: string | string[];
            audiences: string[] | null;
            authorized_parties: string[] | null;
            jwks_url: string | null;
            algorithms: string[];
            user_id_claim: string;
            plan_claim: string | null;
            required_claims: {
                [key: string]: (string | number | boolean)[];
            };
            clock_tolerance_seconds: number;
            max_token_age_seconds: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        FederatedAuthTest: {
            valid: boolean;
            end_user_id: string | null;
            /** @description The value of the token's plan claim. */
            plan: string | null;
            /** @description Why the token would be rejected. */
            reason: string | null;
        };
        Limit: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            project_id: string | null;
            environment_id: string | null;
            /** @enum {string} */
            scope: "org" | "project" | "environment" | "key" | "end_user" | "default_end_user";
            scope_ref: string | null;
            /** @enum {string} */
            metric: "requests" | "tokens" | "concurrency";
            limit: number;
            window_seconds: number | null;
            /** @description By ended requests in the window until now; null for default_end_user, which applies to each end user separately, and where the control plane cannot ask a gateway. */
            used: number | null;
            /** @description By running requests, such as those that run now for `concurrency`. */
            reserved: number | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        LimitPreview: {
            /**
             * Format: date-time
             * @description 7 days ago; later where there were too many requests to try them all.
             */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description False: there were more than 20000 requests, of which the newest were tried. */
            is_complete: boolean;
            /** @description Served requests that the rule concerns. */
            requests: number;
            /** @description How many of them it would have refused. */
            refused: number;
            /** @description How many end users it would have refused, for `default_end_user`; else 1 or 0. */
            affected: number;
        };
        Plan: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            name: string;
            allowed_models: string[] | null;
            scopes: ("ai.chat" | "ai.embed" | "ai.images" | "feedback")[] | null;
            requests_per_minute: number | null;
            max_concurrency: number | null;
            tokens_per_day: number | null;
            usd_per_month: number | null;
            is_default: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        Quota: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            environment_id: string;
            /** @enum {string} */
            scope: "environment" | "key" | "end_user" | "default_end_user";
            scope_ref: string | null;
            /** @enum {string} */
            metric: "requests" | "tokens";
            /** @enum {string} */
            window: "hour" | "day" | "week" | "month";
            limit: number;
            grace_pct: number;
            /** @description In the current window; null for default_end_user, which applies to each end user separately. */
            used: number | null;
            /** @description Held for requests that are under way; null where `used` is, and where the control plane cannot ask a gateway. */
            reserved: number | null;
            /** Format: date-time */
            resets_at: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        Webhook: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            url: string;
            events: ("budget.alert" | "quota.alert" | "credential.invalid" | "circuit.open")[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        NewWebhookRecord: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            url: string;
            events: ("budget.alert" | "quota.alert" | "credential.invalid" | "circuit.open")[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description The key that signs deliveries (Standard Webhooks): `whsec_…`. */
            secret: string;
        };
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description The `webhook-id` of every attempt.
             */
            id: string;
            /** Format: uuid */
            webhook_id: string;
            /** @description `webhook.test` for a test. */
            event: string;
            /**
             * @description `pending`: an attempt runs or follows. `failed`: it was given up.
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed";
            /** @description Attempts that were started. */
            attempts: number;
            next_attempt_at: string | null;
            delivered_at: string | null;
            /** @description Why the last attempt failed. */
            failure: string | null;
            /** Format: date-time */
            created_at: string;
        };
        Project: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            org_id: string;
            name: string;
            slug: string;
            allowed_origins: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        SavedView: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            environment_id: string;
            /** @enum {string} */
            page: "overview" | "logs" | "usage" | "end-users" | "keys";
            name: string;
            /** @description The query of the page's address, such as `status=5xx`. */
            search: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /** @description The signed-in user. */
        Session: {
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string | null;
            };
            memberships: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                role: "viewer" | "developer" | "admin" | "owner";
                organization: {
                    /** Format: uuid */
                    id: string;
                    name: string;
                    slug: string;
                };
            }[];
        };
        SignInOptions: {
            /** @description No user exists: the first-run set-up is still to be done. */
            setup_open: boolean;
            /** @description Users can sign in by OpenID Connect. */
            oidc: boolean;
        };
        /** @description Who is signed in, and what they may open. */
        Workspace: {
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string | null;
            };
            /**
             * Format: date-time
             * @description The session ends then, even if it is used.
             */
            expires_at: string;
            gateway_url: string;
            /** @description Where the gateway serves other providers' formats, such as `openai: /openai`. */
            prefixes: {
                [key: string]: string;
            };
            organizations: {
                /** Format: uuid */
                id: string;
                name: string;
                slug: string;
                time_zone: string;
                /** @enum {string} */
                role: "viewer" | "developer" | "admin" | "owner";
                /** Format: uuid */
                member_id: string;
                projects: {
                    /** Format: uuid */
                    id: string;
                    name: string;
                    slug: string;
                    environments: {
                        /** Format: uuid */
                        id: string;
                        /** @enum {string} */
                        name: "development" | "production";
                    }[];
                }[];
            }[];
            /** @description There are further projects: see `projects.list`. */
            has_more: boolean;
        };
        Setup: {
            user: {
                /** Format: uuid */
                id: string;
                email: string;
                name: string | null;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
            };
            organization: components["schemas"]["Organization"];
            project: components["schemas"]["Project"];
            environments: components["schemas"]["Environment"][];
            management_key: components["schemas"]["NewManagementKey"];
            secret_key: components["schemas"]["NewApiKey"];
        };
        Usage: {
            /** Format: date-time */
            bucket: string;
            model?: string | null;
            provider?: string | null;
            key_id?: string | null;
            end_user_id?: string | null;
            environment_id?: string | null;
            project_id?: string | null;
            /** @description True: the sum of the groups that `top` leaves out. */
            other: true | null;
            sandbox: boolean;
            requests: number;
            errors: number;
            input_tokens: number;
            output_tokens: number;
            cached_tokens: number;
            /** @description Part of `output_tokens`. */
            reasoning_tokens: number;
            cost_usd: number | null;
            unpriced_requests: number;
            latency_ms_p50: number | null;
            latency_ms_p95: number | null;
            /** @description The time to the first byte of streams; null: there were none. */
            first_byte_ms_p50: number | null;
            /** @description The time to the first byte of streams; null: there were none. */
            first_byte_ms_p95: number | null;
        };
        /** @description The body of every error response. */
        Error: {
            error: {
                /** @enum {string} */
                type: "invalid_request_error" | "authentication_error" | "permission_error" | "not_found_error" | "idempotency_error" | "budget_error" | "rate_limit_error" | "quota_error" | "provider_error" | "internal_error";
                /** @enum {string} */
                code: "invalid_request" | "request_validation_failed" | "model_missing_capability" | "provider_credential_missing" | "request_canceled" | "invalid_scope" | "attributes_too_large" | "federated_auth_not_configured" | "federated_config_invalid" | "device_attest_not_configured" | "provider_rejected" | "context_length_exceeded" | "content_filtered" | "model_unpriced" | "request_timeout" | "resource_conflict" | "request_too_large" | "unsupported_media_type" | "unauthenticated" | "invalid_key" | "key_expired" | "key_revoked" | "invalid_identity_token" | "invalid_device_attestation" | "sign_in_failed" | "endpoint_not_allowed" | "model_not_allowed" | "end_user_blocked" | "insufficient_role" | "client_token_cannot_mint" | "publishable_key_required" | "origin_not_allowed" | "csrf_failed" | "setup_closed" | "route_not_found" | "model_not_found" | "no_eligible_target" | "embeddings_not_supported" | "resource_not_found" | "idempotency_conflict" | "budget_exceeded" | "rate_limit_exceeded" | "concurrency_limit_exceeded" | "end_user_rpm_exceeded" | "mint_rate_limit_exceeded" | "control_rate_limit_exceeded" | "quota_exceeded" | "provider_unavailable" | "provider_overloaded" | "provider_auth_failed" | "timeout" | "stream_interrupted" | "signing_key_unavailable" | "internal_error" | "config_unavailable";
                message: string;
                param: string | null;
                request_id: string;
                doc_url: string;
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "setup.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetupRequestInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setup"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.get": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.delete": {
        parameters: {
            query?: {
                everywhere?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.get_bootstrap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.get_options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInOptions"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.change_password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.reset_password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordResetInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.list_views": {
        parameters: {
            query?: {
                /** @description Page size. Default: all at once. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Only those of this environment. Without it at most 500 are listed. */
                environment_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SavedView"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.put_view": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                viewId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSavedViewInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedView"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.delete_view": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                viewId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "orgs.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Organization"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "orgs.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrganizationInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "orgs.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "orgs.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "orgs.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrganizationChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Organization"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Member"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.invite": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitedMember"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                memberId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                memberId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "members.create_reset_link": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                memberId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResetLink"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitations.accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationAcceptanceInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "invitations.lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationLookupInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationDetails"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "management_keys.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ManagementKey"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "management_keys.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ManagementKeyRequestInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewManagementKey"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "management_keys.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManagementKey"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "management_keys.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "projects.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Project"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "projects.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProjectInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "projects.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "projects.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "projects.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "environments.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Environment"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "environments.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "environments.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    log_retention_days?: number | null;
                    log_capture?: ("full" | "metadata") | null;
                    allowed_models?: string[] | null;
                    unsupported_params?: ("refuse" | "drop") | null;
                    on_client_gone?: ("cancel" | "drain") | null;
                    allow_client_passthrough?: boolean | null;
                    allow_secret_key_in_browser?: boolean | null;
                };
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "playground_tokens.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientToken"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Those whose name begins with this text, in any case. */
                q?: string;
                /** @description Default: all. */
                state?: "active" | "expired" | "revoked";
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ApiKey"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKeyInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyChangesInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.get_effective_limits": {
        parameters: {
            query?: {
                /** @description Page size. Default: all at once. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EffectiveLimits"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "provider_credentials.list_in_project": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ProviderCredential"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "provider_credentials.create_in_project": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProjectProviderCredentialInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderCredential"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "provider_credentials.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ProviderCredential"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "provider_credentials.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProviderCredentialInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderCredential"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "provider_credentials.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderCredential"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "provider_credentials.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "provider_credentials.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProviderCredentialChangesInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderCredential"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit_log.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                actor_id?: string;
                /** @description For example `keys.create`. */
                operation?: string;
                resource_id?: string;
                /** @description Inclusive. */
                from?: string;
                /** @description Exclusive. */
                to?: string;
            };
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AuditEntry"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "usage.list_of_organization": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Page size instead of `limit`, for a whole series in one call, such as that of a chart with many groups. Not with `limit`. */
                rows?: number;
                /** @description The whole bucket of this time counts. Default: 30 days before `to`. */
                from?: string;
                /** @description The last bucket begins before this time. Default: now. */
                to?: string;
                /** @description What a row sums; `total`: the whole time, by whole hours up to 8 days and else by whole days. Default: `day`. */
                granularity?: "hour" | "day" | "month" | "total";
                /** @description Whose hours, days and months are counted: a name of the IANA database. Default: the organization's, whose days are stored as such. For days, months and totals of another one the time must be at most 32 days. */
                time_zone?: string;
                /** @description Answers a row of zeros for each bucket in which a group has no requests, and all rows in one page of up to 10000. */
                fill?: "zero";
                /** @description One or more of model, provider, key, end_user, environment and project, such as `model,key`. */
                group_by?: string;
                /** @description With `group_by`: only so many groups, those that cost most in the whole time, have rows of their own. The others are summed in rows with `other: true`. */
                top?: number;
                /** @description Only requests that this model answered. */
                model?: string;
                /** @description Only requests that this provider answered. */
                provider?: string;
                /** @description Only requests with this key. */
                key_id?: string;
                /** @description Only requests of this end user. */
                end_user_id?: string;
                /** @description Only requests in this project. */
                project_id?: string;
                /** @description Only requests in this environment. */
                environment_id?: string;
            };
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Usage"][];
                        has_more: boolean;
                        next_cursor: string | null;
                        /**
                         * Format: date-time
                         * @description When the rows were read. Requests that ended in the seconds before it may be missing.
                         */
                        as_of: string;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "usage.list_of_project": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Page size instead of `limit`, for a whole series in one call, such as that of a chart with many groups. Not with `limit`. */
                rows?: number;
                /** @description The whole bucket of this time counts. Default: 30 days before `to`. */
                from?: string;
                /** @description The last bucket begins before this time. Default: now. */
                to?: string;
                /** @description What a row sums; `total`: the whole time, by whole hours up to 8 days and else by whole days. Default: `day`. */
                granularity?: "hour" | "day" | "month" | "total";
                /** @description Whose hours, days and months are counted: a name of the IANA database. Default: the organization's, whose days are stored as such. For days, months and totals of another one the time must be at most 32 days. */
                time_zone?: string;
                /** @description Answers a row of zeros for each bucket in which a group has no requests, and all rows in one page of up to 10000. */
                fill?: "zero";
                /** @description One or more of model, provider, key, end_user, environment and project, such as `model,key`. */
                group_by?: string;
                /** @description With `group_by`: only so many groups, those that cost most in the whole time, have rows of their own. The others are summed in rows with `other: true`. */
                top?: number;
                /** @description Only requests that this model answered. */
                model?: string;
                /** @description Only requests that this provider answered. */
                provider?: string;
                /** @description Only requests with this key. */
                key_id?: string;
                /** @description Only requests of this end user. */
                end_user_id?: string;
                /** @description Only requests in this project. */
                project_id?: string;
                /** @description Only requests in this environment. */
                environment_id?: string;
            };
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Usage"][];
                        has_more: boolean;
                        next_cursor: string | null;
                        /**
                         * Format: date-time
                         * @description When the rows were read. Requests that ended in the seconds before it may be missing.
                         */
                        as_of: string;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "usage.list_of_environment": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Page size instead of `limit`, for a whole series in one call, such as that of a chart with many groups. Not with `limit`. */
                rows?: number;
                /** @description The whole bucket of this time counts. Default: 30 days before `to`. */
                from?: string;
                /** @description The last bucket begins before this time. Default: now. */
                to?: string;
                /** @description What a row sums; `total`: the whole time, by whole hours up to 8 days and else by whole days. Default: `day`. */
                granularity?: "hour" | "day" | "month" | "total";
                /** @description Whose hours, days and months are counted: a name of the IANA database. Default: the organization's, whose days are stored as such. For days, months and totals of another one the time must be at most 32 days. */
                time_zone?: string;
                /** @description Answers a row of zeros for each bucket in which a group has no requests, and all rows in one page of up to 10000. */
                fill?: "zero";
                /** @description One or more of model, provider, key, end_user, environment and project, such as `model,key`. */
                group_by?: string;
                /** @description With `group_by`: only so many groups, those that cost most in the whole time, have rows of their own. The others are summed in rows with `other: true`. */
                top?: number;
                /** @description Only requests that this model answered. */
                model?: string;
                /** @description Only requests that this provider answered. */
                provider?: string;
                /** @description Only requests with this key. */
                key_id?: string;
                /** @description Only requests of this end user. */
                end_user_id?: string;
                /** @description Only requests in this project. */
                project_id?: string;
                /** @description Only requests in this environment. */
                environment_id?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Usage"][];
                        has_more: boolean;
                        next_cursor: string | null;
                        /**
                         * Format: date-time
                         * @description When the rows were read. Requests that ended in the seconds before it may be missing.
                         */
                        as_of: string;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "logs.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description A status, or all of a hundred: `4xx`. */
                status?: (number | ("1xx" | "2xx" | "3xx" | "4xx" | "5xx")) | (number | ("1xx" | "2xx" | "3xx" | "4xx" | "5xx"))[];
                error_code?: string | string[];
                /** @description The model as requested, the `provider/model` that answered, or its name there without the provider. */
                model?: string | string[];
                provider?: string | string[];
                key_id?: string | string[];
                /** @description The whole name of a key, also of revoked ones: a rolled key has the name of its predecessor. At most 1,000 keys may have it. */
                key_name?: string | string[];
                end_user_id?: string | string[];
                endpoint?: ("chat" | "count_tokens" | "embeddings" | "rerank" | "images" | "audio") | ("chat" | "count_tokens" | "embeddings" | "rerank" | "images" | "audio")[];
                /** @description None of these; requests without a value of `status` match. */
                "not.status"?: (number | ("1xx" | "2xx" | "3xx" | "4xx" | "5xx")) | (number | ("1xx" | "2xx" | "3xx" | "4xx" | "5xx"))[];
                /** @description None of these; requests without a value of `error_code` match. */
                "not.error_code"?: string | string[];
                /** @description None of these; requests without a value of `model` match. */
                "not.model"?: string | string[];
                /** @description None of these; requests without a value of `provider` match. */
                "not.provider"?: string | string[];
                /** @description None of these; requests without a value of `key_id` match. */
                "not.key_id"?: string | string[];
                /** @description None of these; requests without a value of `key_name` match. */
                "not.key_name"?: string | string[];
                /** @description None of these; requests without a value of `end_user_id` match. */
                "not.end_user_id"?: string | string[];
                /** @description None of these; requests without a value of `endpoint` match. */
                "not.endpoint"?: ("chat" | "count_tokens" | "embeddings" | "rerank" | "images" | "audio") | ("chat" | "count_tokens" | "embeddings" | "rerank" | "images" | "audio")[];
                /** @description Whether the request asked for a stream. */
                stream?: boolean;
                /** @description Whether the sandbox provider served the request. */
                sandbox?: boolean;
                /** @description What the `X-Request-Id` begins with: 8 characters at least. */
                request_id?: string;
                /** @description Inclusive; the time when the request arrived. */
                from?: string;
                /** @description Exclusive. */
                to?: string;
                min_cost_usd?: number;
                min_latency_ms?: number;
                /** @description Live tail: the `X-Request-Id` of a request. What was stored after it comes, first stored first; ask again with the last, and each request comes once. Those that were stored more than a week after they arrived are in the list only. */
                after?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RequestLog"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "logs.get_histogram": {
        parameters: {
            query?: {
                /** @description A status, or all of a hundred: `4xx`. */
                status?: (number | ("1xx" | "2xx" | "3xx" | "4xx" | "5xx")) | (number | ("1xx" | "2xx" | "3xx" | "4xx" | "5xx"))[];
                error_code?: string | string[];
                /** @description The model as requested, the `provider/model` that answered, or its name there without the provider. */
                model?: string | string[];
                provider?: string | string[];
                key_id?: string | string[];
                /** @description The whole name of a key, also of revoked ones: a rolled key has the name of its predecessor. At most 1,000 keys may have it. */
                key_name?: string | string[];
                end_user_id?: string | string[];
                endpoint?: ("chat" | "count_tokens" | "embeddings" | "rerank" | "images" | "audio") | ("chat" | "count_tokens" | "embeddings" | "rerank" | "images" | "audio")[];
                /** @description None of these; requests without a value of `status` match. */
                "not.status"?: (number | ("1xx" | "2xx" | "3xx" | "4xx" | "5xx")) | (number | ("1xx" | "2xx" | "3xx" | "4xx" | "5xx"))[];
                /** @description None of these; requests without a value of `error_code` match. */
                "not.error_code"?: string | string[];
                /** @description None of these; requests without a value of `model` match. */
                "not.model"?: string | string[];
                /** @description None of these; requests without a value of `provider` match. */
                "not.provider"?: string | string[];
                /** @description None of these; requests without a value of `key_id` match. */
                "not.key_id"?: string | string[];
                /** @description None of these; requests without a value of `key_name` match. */
                "not.key_name"?: string | string[];
                /** @description None of these; requests without a value of `end_user_id` match. */
                "not.end_user_id"?: string | string[];
                /** @description None of these; requests without a value of `endpoint` match. */
                "not.endpoint"?: ("chat" | "count_tokens" | "embeddings" | "rerank" | "images" | "audio") | ("chat" | "count_tokens" | "embeddings" | "rerank" | "images" | "audio")[];
                /** @description Whether the request asked for a stream. */
                stream?: boolean;
                /** @description Whether the sandbox provider served the request. */
                sandbox?: boolean;
                /** @description What the `X-Request-Id` begins with: 8 characters at least. */
                request_id?: string;
                /** @description Inclusive; the time when the request arrived. */
                from?: string;
                /** @description Exclusive. */
                to?: string;
                min_cost_usd?: number;
                min_latency_ms?: number;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogHistogram"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "logs.list_errors": {
        parameters: {
            query?: {
                /** @description Page size. Default: all at once. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Default: 24 hours before `to`. */
                from?: string;
                /** @description Default: now. */
                to?: string;
                /** @description Counts each code apart by these. */
                group_by?: "provider" | "model" | "provider,model";
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorCounts"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "logs.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                requestId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestLogDetail"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "catalog.list_providers": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CatalogProvider"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "catalog.list_models": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Models of this provider only. */
                provider?: string;
                /** @description Models that can do this only. */
                capability?: "chat" | "tools" | "response_format" | "vision" | "reasoning" | "embeddings" | "images" | "transcription" | "speech" | "rerank";
                /** @description Models whose id or name contains this text, in any case. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CatalogModel"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "catalog.list_for_environment": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Models of this provider only. */
                provider?: string;
                /** @description Models that can do this only. */
                capability?: "chat" | "tools" | "response_format" | "vision" | "reasoning" | "embeddings" | "images" | "transcription" | "speech" | "rerank";
                /** @description Models whose id or name contains this text, in any case. */
                q?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CallableModel"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.roll": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRollInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "keys.reveal": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevealedKey"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "provider_credentials.validate": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderCredential"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "model_aliases.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ModelAlias"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "model_aliases.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewModelAliasInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenModelAlias"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "model_aliases.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAlias"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "model_aliases.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "model_aliases.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelAliasChangesInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenModelAlias"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "model_aliases.dry_run": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ModelAliasQuestionInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAliasDryRun"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "model_aliases.dry_run_new": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewModelAliasQuestionInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAliasDryRun"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "custom_models.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CustomModel"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "custom_models.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCustomModelInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomModel"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "custom_models.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "custom_models.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomModelChangesInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomModel"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "circuits.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Circuit"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "limits.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Limit"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "limits.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewLimitInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limit"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "limits.preview": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LimitQuestionInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitPreview"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "limits.list_of_organization": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Limit"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "limits.create_in_organization": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewLimitInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limit"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "limits.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "limits.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LimitChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limit"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "quotas.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Quota"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "quotas.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewQuotaInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Quota"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "quotas.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "quotas.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuotaChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Quota"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Budget"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBudgetInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.list_of_organization": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Budget"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.create_in_organization": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBudgetInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "budgets.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "plans.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Plan"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "plans.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlanInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "plans.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "plans.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "plans.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "end_users.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Those whose `external_id` begins with this text. */
                q?: string;
                /** @description The one with this `external_id`. */
                external_id?: string;
                /** @description Those who have been given the plan of this name. */
                plan?: string;
                blocked?: "true" | "false";
                /** @description By the time of their creation or by name. Default: `-created_at`, newest first. */
                order?: "-created_at" | "created_at" | "external_id";
            };
            header?: never;
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["EndUser"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "end_users.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                envId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEndUserInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndUser"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "end_users.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndUser"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "end_users.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "end_users.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndUserChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndUser"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "end_users.get_effective_limits": {
        parameters: {
            query?: {
                /** @description Page size. Default: all at once. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EffectiveLimits"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "end_users.block": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndUser"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "end_users.unblock": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndUser"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "federated_auth.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FederatedAuth"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "federated_auth.put": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FederatedAuthSettingsInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FederatedAuth"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "federated_auth.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "federated_auth.test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FederatedAuthTestRequestInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FederatedAuthTest"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "device_auth.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceAuth"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "device_auth.put": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeviceAuthSettingsInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceAuth"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "device_auth.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.list": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Webhook"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                orgId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhookInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhookRecord"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.test": {
        parameters: {
            query?: never;
            header?: {
                /** @description A second call with the same key and body within 24 hours gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: string;
                /** @description The `ETag` of the version that the change is based on, which is its `updated_at` in quotes. After another change the answer is `resource_conflict`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhooks.list_deliveries": {
        parameters: {
            query?: {
                /** @description Page size. Default: 20. */
                limit?: number;
                /** @description The `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"][];
                        has_more: boolean;
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Default Response */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
