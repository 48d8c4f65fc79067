/** The real host for tests: Cordis with the published DeepSeek Harness packages. */

export { startHost } from './host.ts'
export type { CallOptions, HostOptions, HostPrompt, HostScope, TestHost } from './host.ts'
export { descendants, growth, holdings, isAlive } from './leaks.ts'
export type { Holdings, ProcessInfo } from './leaks.ts'
export { LogCollector } from './logs.ts'
export type { LogEntry } from './logs.ts'
export { SCRIPTED_PROVIDER, ScriptedLlm } from './scripted-llm.ts'
export type { ScriptedAnswer, ScriptedModels, ScriptedToolCall } from './scripted-llm.ts'
export { StatusRecorder } from './statuses.ts'
export type { McpStatus, McpStatusKind, McpStatusMatch, StatusWaitOptions } from './statuses.ts'
