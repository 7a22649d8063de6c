import { defineTool } from '../../hands/define-tool.ts';
import { BUILT_IN, type BuiltIn } from '../built-in.ts';

/** Characters and choices of one question: a person reads it, and it is kept with the decision. */
const QUESTION = { characters: 4_000, choices: 20, choiceCharacters: 200 } as const;

/**
 * Asks the person behind the run (design 5.3): suspends with an approval of kind `question`, whose answer is the
 * observation. It may stand beside other calls in a batch; those wait for it. Nothing of it takes a Lambda or a permit.
 */
export const askUser: BuiltIn = {
  kind: 'question',
  definition: defineTool({
    name: 'ask_user',
    description:
      'Asks the user a question and waits for the answer, for days if need be. Use it when only a person can know or decide ' +
      'something, and say in the question all that the person needs to know. Give choices when only certain answers make ' +
      'sense. Returns the answer as text. Approvals of tool calls are asked for without you: do not use this for them.',
    parameters: {
      type: 'object',
      properties: {
        question: { type: 'string', minLength: 1, maxLength: QUESTION.characters, description: 'What the user reads' },
        choices: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: QUESTION.choiceCharacters },
          minItems: 1,
          maxItems: QUESTION.choices,
          uniqueItems: true,
          description: 'The only answers there are; leave out for an answer in words',
        },
      },
      required: ['question'],
      additionalProperties: false,
    },
    category: BUILT_IN,
    // It holds no place in a stage, so it must not make its neighbours wait for each other.
    parallelSafe: true,
  }),
};
