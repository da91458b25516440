import { google } from '../google.mjs'
import { playSteps } from '../steps.mjs'
import { configure } from './configuration.mjs'

await playSteps(configure, google)
