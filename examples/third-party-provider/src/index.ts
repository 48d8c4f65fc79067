/**
 * A provider that is no MCP server, but whose tool speaks like one: its results are MCP results, and everything
 * that makes of them what a model reads and a program gets is {@link createMcpToolDefinition}.
 */
import type { Context } from '@deepseek-ai/cordis'
import { createMcpToolDefinition } from '@deepseek-ai/dsh-mcp-client'
import type {} from '@deepseek-ai/dsh-tools'
import { swatch } from './swatch.ts'

/** How long a call may take, in ms. A provider's deadlines are its own. */
const DEADLINE_MS = 5000

/** The plugin's name. */
export const name = 'example-palette'

/** The tool registry. Attachments and models are used where they are. */
export const inject = ['tools']

/** Register the tool for as long as the plugin is loaded. */
export async function apply(ctx: Context): Promise<void> {
  ctx.tools.register(
    createMcpToolDefinition(ctx, {
      name: 'palette__swatch',
      rawName: 'swatch',
      description: 'Shows a color: its red, green and blue, and a square of it.',
      inputSchema: {
        type: 'object',
        properties: { color: { type: 'string', description: 'As in #1e90ff' } },
        required: ['color'],
      },
      outputSchema: {
        type: 'object',
        properties: { red: { type: 'integer' }, green: { type: 'integer' }, blue: { type: 'integer' } },
        required: ['red', 'green', 'blue'],
      },
      isReadOnly: true,
      call: async ({ color }, exec) => {
        const rgb = await lookUp(
          String(color),
          AbortSignal.any([exec.signal, AbortSignal.timeout(DEADLINE_MS)]),
        )
        if (rgb === undefined) {
          return {
            isError: true,
            content: [{ type: 'text', text: `${String(color)} is not a color like #1e90ff.` }],
          }
        }
        const [red, green, blue] = rgb
        return {
          content: [
            { type: 'text', text: `red ${red}, green ${green}, blue ${blue}` },
            { type: 'image', mimeType: 'image/png', data: swatch(rgb).toString('base64') },
          ],
          structuredContent: { red, green, blue },
        }
      },
    }),
  )
}

/** Stands for the work of a real provider: it ends when the signal aborts. */
async function lookUp(color: string, signal: AbortSignal): Promise<[number, number, number] | undefined> {
  signal.throwIfAborted()
  const [, red, green, blue] = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color) ?? []
  if (red === undefined || green === undefined || blue === undefined) return undefined
  return [red, green, blue].map((part) => Number.parseInt(part, 16)) as [number, number, number]
}
