/** The example MCP server itself: two tools, three pages and an icon as resources, one template, instructions. */
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { icon, pages } from './pages.ts'

const instructions =
  'A gardening handbook. Call `search` first; its hits name the pages that `read_page` takes. Every page is also a resource, handbook://pages/{slug}.'

const hits = z.object({ hits: z.array(z.object({ slug: z.string(), title: z.string() })) })

/** The page of a slug as a resource, or as the text of a tool. */
function pageText(slug: string): string {
  const page = pages.get(slug)
  if (page === undefined)
    throw new Error(`there is no page ${JSON.stringify(slug)}; search finds the pages there are`)
  return page.text
}

/** Make a server; over HTTP there is one for each request. */
export function createHandbook(): McpServer {
  const server = new McpServer({ name: 'gardening-handbook', version: '1.0.0' }, { instructions })

  server.registerTool(
    'search',
    {
      description: 'Find pages of the gardening handbook that contain a word.',
      inputSchema: z.object({ query: z.string().describe('One word, in any case.') }),
      outputSchema: hits,
      annotations: { readOnlyHint: true },
    },
    ({ query }) => {
      const word = query.toLowerCase()
      const found = [...pages].filter(([, { text }]) => text.toLowerCase().includes(word))
      const structuredContent = { hits: found.map(([slug, { title }]) => ({ slug, title })) }
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
    },
  )
  server.registerTool(
    'read_page',
    {
      description: 'Read one page of the gardening handbook.',
      inputSchema: z.object({ slug: z.enum([...pages.keys()]) }),
      annotations: { readOnlyHint: true },
    },
    ({ slug }) => ({ content: [{ type: 'text', text: pageText(slug) }] }),
  )

  server.registerResource(
    'page',
    new ResourceTemplate('handbook://pages/{slug}', {
      list: () => ({
        resources: Array.from(pages, ([slug, { title }]) => ({
          uri: `handbook://pages/${slug}`,
          name: slug,
          title,
          mimeType: 'text/markdown',
        })),
      }),
    }),
    { description: 'One page of the handbook.', mimeType: 'text/markdown' },
    (uri, { slug }) => ({
      contents: [{ uri: uri.href, mimeType: 'text/markdown', text: pageText(String(slug)) }],
    }),
  )
  server.registerResource('icon', 'handbook://icon.png', { mimeType: 'image/png' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'image/png', blob: icon }],
  }))
  return server
}
