/**
 * How text from an MCP server is shown to a model or on a terminal. The package owns one decision, which
 * code points are unsafe to show, and the escape they are shown as.
 */
export { DEFAULT_EXCERPT_LENGTH, DEFAULT_LINE_LENGTH, visibleExcerpt, visibleLine } from './visible-line.ts'
export {
  DEFAULT_CHUNK,
  visibleText,
  visibleTextAsync,
  visibleTextPieces,
  type VisibleTextOptions,
} from './visible-text.ts'
