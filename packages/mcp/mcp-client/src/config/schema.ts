/**
 * The configuration as the Cordis loader and configuration UIs see it.
 *
 * Invariant: the loader accepts exactly what {@link resolveConfig} accepts. The Schemastery tree describes the
 * fields; the standard-schema hook that the loader validates with is answered by the resolution itself, so
 * that there is one set of rules and one wording of a refusal.
 */
import z from '@deepseek-ai/schemastery'
import { NUMBER_LIMITS, SERVER_NAME_PATTERN } from './limits.ts'
import { McpClientConfigError, resolveConfig } from './resolve.ts'
import type { Config as ConfigType } from './types.ts'

const bounded = (path: keyof typeof NUMBER_LIMITS) => {
  const { min, max, default: fallback } = NUMBER_LIMITS[path]
  return z.number().min(min).max(max).default(fallback)
}

const common = {
  serverName: z
    .string()
    .pattern(SERVER_NAME_PATTERN)
    .required()
    .description('Local name of the server, the middle part of its tools’ names.'),
  toolCallTimeoutMs: bounded('toolCallTimeoutMs').description(
    'Deadline of a tool call or resource request, in ms.',
  ),
  maxInstructionBytes: bounded('maxInstructionBytes').description(
    'Largest accepted server instructions, in bytes.',
  ),
  maxMessageBytes: bounded('maxMessageBytes').description('Largest accepted protocol message, in bytes.'),
  livenessIntervalMs: z
    .union([z.const(0 as const), bounded('livenessIntervalMs')])
    .default(NUMBER_LIMITS.livenessIntervalMs.default)
    .description('How often an idle connection is checked for life, in ms; 0 switches it off.'),
  failOnStartupError: z
    .boolean()
    .default(false)
    .description('Reject activation when the first connection fails.'),
  reconnect: z
    .object({
      enabled: z.boolean().default(true).description('Reconnect after a lost connection.'),
      initialDelayMs: bounded('reconnect.initialDelayMs').description(
        'First delay, in ms; doubles with each failure.',
      ),
      maxDelayMs: bounded('reconnect.maxDelayMs').description(
        'Longest delay, in ms; also the uptime that resets the budget.',
      ),
      maxAttempts: bounded('reconnect.maxAttempts').description('Failed attempts in a row before giving up.'),
    })
    .description('Recovery of lost connections.'),
}

const stdio = z.object({
  transport: z
    .const('stdio' as const)
    .required()
    .description('A local program.'),
  command: z.string().required().description('Executable; not passed through a shell.'),
  args: z.array(z.string()).default([]).description('Arguments.'),
  env: z.dict(z.string().role('secret')).default({}).description('Added to the scrubbed host environment.'),
  cwd: z.string().description('Working directory, relative to the composition.'),
  ...common,
})

const streamableHttp = z.object({
  transport: z
    .const('streamable-http' as const)
    .required()
    .description('A remote server.'),
  url: z.string().role('link').required().description('Endpoint, http: or https:.'),
  headers: z.dict(z.string().role('secret')).default({}).description('Sent with every request.'),
  ...common,
})

/** The configuration of an entry. */
export type Config = ConfigType

/** The plugin's configuration schema; its fields, defaults and bounds are those of the type of the same name. */
export const Config = z.union([stdio, streamableHttp]) as unknown as z<ConfigType>

Object.defineProperty(Config, '~standard', {
  value: {
    version: 1,
    vendor: 'schemastery',
    validate(written: unknown) {
      try {
        resolveConfig(written)
        return { value: written }
      } catch (error) {
        if (error instanceof McpClientConfigError) return { issues: [{ message: error.message }] }
        throw error
      }
    },
  },
})
