import { openai } from '../openai.mjs'
import { playSteps } from '../steps.mjs'
import { configure } from './configuration.mjs'

await playSteps(configure, openai)
