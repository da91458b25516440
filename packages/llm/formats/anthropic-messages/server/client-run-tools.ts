import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { FunctionTool } from '../../../request/tools.ts'

/**
 * Tools of Anthropic that the caller runs and whose input is documented, as functions for models of other providers. The
 * caller reads the calls of these functions as it reads those of Claude, so names and inputs are the documented ones.
 * `computer` and its like are absent: what their input means depends on screenshots that only models trained for it can read.
 */

const ABOUT_BASH =
  'Runs a command in a bash session of the user and returns what it prints. The session stays open between calls, so ' +
  'variables and the working directory are kept. Programs that ask for input cannot be used. Give either `command` or ' +
  '`restart`.'
const ABOUT_EDITOR =
  'Reads and changes text files of the user. `view` returns a file with its line numbers, or lists a directory. `create` ' +
  'writes a whole file. `str_replace` replaces a text that occurs exactly once in the file. `insert` adds text after a line.'
const ABOUT_UNDO = ' `undo_edit` takes the last change of a file back.'
const ABOUT_MEMORY =
  'Keeps notes between conversations, as text files below `/memories`. View that directory before you begin a task, and ' +
  'write down what later conversations will need. `view` returns a file with its line numbers, or lists a directory. ' +
  '`create` writes a whole file. `str_replace` replaces a text that occurs exactly once. `insert` adds text after a line. ' +
  '`delete` removes and `rename` moves a file or a directory.'

function text(description: string): JsonObject {
  return { type: 'string', description }
}

function toCommands(names: readonly string[], others: JsonObject, required: readonly string[]): JsonObject {
  const command = { type: 'string', enum: [...names], description: 'What to do.' }
  return { type: 'object', properties: { command, ...others }, required: ['command', ...required] }
}

const BASH: JsonObject = {
  type: 'object',
  properties: {
    command: text('The command to run. Needed unless `restart` is true.'),
    restart: { type: 'boolean', description: 'True: starts a new session in place of running a command.' },
  },
}

/** What commands on files take, besides a path. `inserted`: the name of the text that `insert` adds. */
function toFileFields(inserted: 'insert_text' | 'new_str'): JsonObject {
  const replacement = 'Of `str_replace`: the text that replaces the old one; absent: the old text is removed.'
  const fields: JsonObject = {
    view_range: {
      type: 'array',
      items: { type: 'integer' },
      description:
        'Of `view`: the first and the last line, from 1; -1 as the last one means the end of the file.',
    },
    file_text: text('Of `create`: the content of the file.'),
    old_str: text('Of `str_replace`: the text to replace, exactly as in the file, with its white space.'),
    new_str: text(inserted === 'new_str' ? `${replacement} Of \`insert\`: the text to insert.` : replacement),
    insert_line: {
      type: 'integer',
      description:
        'Of `insert`: the line after which the text is inserted; 0 means the beginning of the file.',
    },
  }
  if (inserted === 'insert_text') fields.insert_text = text('Of `insert`: the text to insert.')
  return fields
}

const PATH = { path: text('The path of the file or directory.') }
const EDITS = ['view', 'create', 'str_replace', 'insert']
// The documents of later versions named the text of `insert` as the earlier ones do, but their models write `insert_text`.
const EARLY_EDITOR = toCommands([...EDITS, 'undo_edit'], { ...PATH, ...toFileFields('new_str') }, ['path'])
const EDITOR = toCommands(EDITS, { ...PATH, ...toFileFields('insert_text') }, ['path'])
const MEMORY = toCommands(
  [...EDITS, 'delete', 'rename'],
  {
    path: text('The path of the file or directory, below `/memories`. Needed by all commands but `rename`.'),
    ...toFileFields('insert_text'),
    old_path: text('Of `rename`: the present path.'),
    new_path: text('Of `rename`: the new path.'),
  },
  [],
)

interface ClientRunTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
}

const BASH_TOOL: ClientRunTool = { name: 'bash', description: ABOUT_BASH, parameters: BASH }
const EARLY_EDITOR_TOOL: ClientRunTool = {
  name: 'str_replace_editor',
  description: ABOUT_EDITOR + ABOUT_UNDO,
  parameters: EARLY_EDITOR,
}
const EDITOR_TOOL: ClientRunTool = {
  name: 'str_replace_based_edit_tool',
  description: ABOUT_EDITOR,
  parameters: EDITOR,
}

/** The tools by type. The input of other versions is not known. */
const TOOLS: Readonly<Record<string, ClientRunTool | undefined>> = toTable({
  bash_20241022: BASH_TOOL,
  bash_20250124: BASH_TOOL,
  text_editor_20241022: EARLY_EDITOR_TOOL,
  text_editor_20250124: EARLY_EDITOR_TOOL,
  text_editor_20250429: EDITOR_TOOL,
  text_editor_20250728: EDITOR_TOOL,
  memory_20250818: { name: 'memory', description: ABOUT_MEMORY, parameters: MEMORY },
})

/**
 * The function that stands for such a tool, with the name that the caller gave it. undefined: nothing can. `strict` is not
 * carried over: the commands of one tool need different fields, which strict schemas cannot say.
 */
export function toClientRunFunction(
  type: Json | undefined,
  name: Json | undefined,
): FunctionTool['function'] | undefined {
  const tool = typeof type === 'string' ? TOOLS[type] : undefined
  if (tool === undefined) return undefined
  const { description, parameters } = tool
  return { name: typeof name === 'string' && name !== '' ? name : tool.name, description, parameters }
}
