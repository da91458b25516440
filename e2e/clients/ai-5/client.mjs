import * as sdk from 'ai'
import { aiSdk } from '../ai.mjs'
import { playSteps } from '../steps.mjs'
import { configure } from './configuration.mjs'

await playSteps(configure, aiSdk(sdk, process.argv[2]))
