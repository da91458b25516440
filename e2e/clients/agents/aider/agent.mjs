// The agent aider. It has no tools: it is given the file, and its model answers with the new one.
import path from 'node:path'

export default {
  format: 'openai-chat',
  other: { model: 'anthropic/claude-sonnet-4-5', format: 'anthropic-messages' },
  // It ends so whatever came of the prompt.
  endsWithZero: true,
  late: ['no budget', 'no quota'],
  // Its start takes longer than the usual window.
  rateWindowSeconds: 20,
  command: ({ modules, prompt, model, file }) => [
    ...[
      path.join(modules, '..', '.venv', 'bin', 'aider'),
      '--yes-always',
      '--no-git',
      '--edit-format',
      'whole',
    ],
    ...(model === undefined ? [] : ['--model', `openai/${model}`]),
    ...['--message', prompt, file],
  ],
  edited: file => `${path.basename(file)}\n\`\`\`\ncolour = blue\n\`\`\`\n`,
}
