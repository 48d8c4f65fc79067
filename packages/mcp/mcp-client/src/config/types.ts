/**
 * The configuration of one entry, as a person writes it in `cordis.yml` and as a program passes it.
 *
 * Everything optional has a default that {@link resolveConfig} fills in; nothing else in the package reads
 * these types.
 */

/** How a lost connection is recovered. Reconnection is on unless it is switched off. */
export interface ReconnectConfig {
  /** Reconnect after a lost connection or a failed start. Default `true`. */
  enabled?: boolean
  /** Wait before the first reconnection, in ms; each further failure doubles it. 0 to 2147483647, default 500. */
  initialDelayMs?: number
  /**
   * Longest wait between two attempts, in ms; also how long a connection must last for a new outage to start
   * with a full budget. `initialDelayMs` to 2147483647, default 30000.
   */
  maxDelayMs?: number
  /**
   * Failed attempts in a row, within one outage, before the entry gives up; a connection shorter than `maxDelayMs`
   * counts as one. 1 to 1000000, default 10.
   */
  maxAttempts?: number
}

/** What both transports share. */
export interface CommonConfig {
  /** Local name of the server, and the middle part of its tools' names. `[A-Za-z0-9_-]`, 1 to 32 characters. */
  serverName: string
  /** Deadline of one tool call or resource request, in ms. 1 to 2147483647, default 60000. */
  toolCallTimeoutMs?: number
  /**
   * Largest accepted server instructions, in UTF-8 bytes and with the attribution to the server counted in; a
   * server that sends more is refused. 0 to 16777216, default 32768.
   */
  maxInstructionBytes?: number
  /** Largest accepted protocol message, in bytes; a larger one ends the connection. 1024 to 524288000, default 67108864. */
  maxMessageBytes?: number
  /**
   * How often an otherwise idle connection is checked for life, in ms; a check that stays unanswered for as
   * long ends the connection. 0 switches it off; else 1000 to 2147483647. Default 30000.
   */
  livenessIntervalMs?: number
  /** Reject the activation of the entry when its first connection fails, instead of retrying. Default `false`. */
  failOnStartupError?: boolean
  /** Recovery of lost connections. */
  reconnect?: ReconnectConfig
}

/** A server that is a local program, spoken to over its standard input and output. */
export interface StdioConfig extends CommonConfig {
  transport: 'stdio'
  /** The executable: a name to look up in PATH, or a path. Never passed through a shell. */
  command: string
  /** Its arguments, each passed as it is. Default none. */
  args?: string[]
  /** Added to the scrubbed environment of the host; a value of null or undefined leaves the name out. */
  env?: Record<string, string | null | undefined>
  /** Working directory; a relative one starts at the composition's folder. Default: the host's. */
  cwd?: string
}

/** A server that is reached over Streamable HTTP. */
export interface StreamableHttpConfig extends CommonConfig {
  transport: 'streamable-http'
  /** The MCP endpoint, `http:` or `https:`. */
  url: string
  /** Sent with every request; a value of null or undefined leaves the name out. */
  headers?: Record<string, string | null | undefined>
}

/** One entry's configuration. */
export type Config = StdioConfig | StreamableHttpConfig
