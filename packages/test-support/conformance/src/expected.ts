/**
 * What the client does not do yet, and why: the committed expectation that every run is compared with.
 *
 * A scenario that is not named here must pass, check by check. One that is named and passes fails the run too,
 * so that this file only ever says what is true.
 */

/** Scenarios, or checks of one scenario, with the reason that they share. */
export interface Expectation {
  readonly reason: string
  /** These scenarios fail at least one check; their checks are not looked at any further. */
  readonly failing?: readonly string[]
  /** Checks, by scenario, that the suite never reaches; `'*'` stands for all checks of the suite. */
  readonly skipped?: Readonly<Record<string, readonly string[] | '*'>>
}

/** Every expectation. */
export const expectations: readonly Expectation[] = [
  {
    reason: 'authorization: the transport has no authorization provider yet, so a 401 ends the connection',
    failing: [
      'auth/metadata-default',
      'auth/metadata-var1',
      'auth/metadata-var2',
      'auth/metadata-var3',
      'auth/basic-cimd',
      'auth/scope-from-www-authenticate',
      'auth/scope-from-scopes-supported',
      'auth/scope-omitted-when-undefined',
      'auth/scope-step-up',
      'auth/scope-retry-limit',
      'auth/token-endpoint-auth-basic',
      'auth/token-endpoint-auth-post',
      'auth/token-endpoint-auth-none',
      'auth/pre-registration',
      'auth/2025-03-26-oauth-metadata-backcompat',
      'auth/2025-03-26-oauth-endpoint-fallback',
      'auth/resource-mismatch',
      'auth/offline-access-scope',
      'auth/offline-access-not-supported',
      'auth/authorization-server-migration',
      'auth/iss-supported',
      'auth/iss-not-advertised',
      'auth/iss-supported-missing',
      'auth/iss-wrong-issuer',
      'auth/iss-unexpected',
      'auth/iss-normalized',
      'auth/metadata-issuer-mismatch',
    ],
  },
  {
    reason: 'authorization extensions (not required by any revision): no authorization provider yet',
    failing: [
      'auth/client-credentials-jwt',
      'auth/client-credentials-basic',
      'auth/enterprise-managed-authorization',
      'auth/dpop',
      'auth/dpop-nonce',
      'auth/wif-jwt-bearer',
    ],
  },
  {
    reason: 'elicitation: the client has no handler that could put a question to a person, and declares none',
    failing: ['elicitation-sep1034-client-defaults', 'sep-2322-client-request-state'],
    skipped: {
      'request-metadata': [
        'ClientDeclaresRootsCapability',
        'ClientDeclaresSamplingCapability',
        'ClientDeclaresElicitationCapability',
      ],
    },
  },
  {
    reason: 'skills extension (not required by any revision): the client never asks for skills',
    skipped: {
      'sep-2640-client-no-prefetch': '*',
      'sep-2640-client-verify-digest': '*',
      'sep-2640-client-verify-size': '*',
      'sep-2640-client-verify-frontmatter': '*',
    },
  },
  {
    reason: 'prompt templates are not bridged, so they are never asked for',
    skipped: {
      'http-standard-headers': [
        'ClientMcpMethodHeader_prompts_list',
        'ClientMcpMethodHeader_prompts_get',
        'ClientMcpNameHeader_prompts_get',
      ],
    },
  },
  {
    reason: 'requests of the legacy handshake, which a 2026-07-28 connection does not make',
    skipped: {
      'http-standard-headers': [
        'ClientMcpMethodHeader_initialize',
        'ClientMcpMethodHeader_notifications_initialized',
      ],
    },
  },
]

/** Whether a scenario is expected to fail as a whole. */
export function isExpectedToFail(scenario: string): boolean {
  return expectations.some(({ failing }) => failing?.includes(scenario))
}
