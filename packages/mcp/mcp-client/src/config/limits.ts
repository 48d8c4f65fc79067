/** Every default and bound of the configuration, in one place; the schema and the resolution both read it. */

/** Longest delay that a Node timer can hold, in ms. */
export const MAX_TIMER_MS = 2_147_483_647

/** An inclusive range of numbers with its default and its unit. */
export interface NumberLimit {
  readonly default: number
  readonly min: number
  readonly max: number
  readonly unit: 'ms' | 'bytes' | 'attempts'
}

/** The number fields of the configuration by their path. */
export const NUMBER_LIMITS = {
  toolCallTimeoutMs: { default: 60_000, min: 1, max: MAX_TIMER_MS, unit: 'ms' },
  maxInstructionBytes: { default: 32_768, min: 0, max: 16_777_216, unit: 'bytes' },
  // No more than a string can hold, since a message is read as one.
  maxMessageBytes: { default: 67_108_864, min: 1024, max: 524_288_000, unit: 'bytes' },
  livenessIntervalMs: { default: 30_000, min: 1000, max: MAX_TIMER_MS, unit: 'ms' },
  'reconnect.initialDelayMs': { default: 500, min: 0, max: MAX_TIMER_MS, unit: 'ms' },
  'reconnect.maxDelayMs': { default: 30_000, min: 0, max: MAX_TIMER_MS, unit: 'ms' },
  'reconnect.maxAttempts': { default: 10, min: 1, max: 1_000_000, unit: 'attempts' },
} as const satisfies Record<string, NumberLimit>

/** What a server may be called: the middle part of the public tool names. */
export const SERVER_NAME_PATTERN = /^[A-Za-z0-9_-]{1,32}$/
