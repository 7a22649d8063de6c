import { describe, expect, it } from 'vitest';
import { HandrailError } from '../../../lib/core/errors.ts';
import { loadConfig, parseConfig } from '../../../lib/runtime/config.ts';

function problemOf(text: string): { message: string; field: string | undefined; line: unknown } {
  try {
    parseConfig(text, 'handrail.config.yaml');
  } catch (error) {
    if (error instanceof HandrailError) return { message: error.message, field: error.field, line: error.extra['line'] };
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('loading the configuration', () => {
  it('gives the defaults when there is no file', () => {
    const config = loadConfig('somewhere/handrail.config.yaml', () => undefined);
    expect(config.target).toBe('aws');
    expect(config.hands.concurrency.global).toBe(10);
  });

  it('gives the defaults for an empty file, and for one of comments only', () => {
    expect(parseConfig('', 'c.yaml')).toEqual(parseConfig('# nothing yet\n', 'c.yaml'));
  });

  it('reads what is written and fills in the rest', () => {
    const config = loadConfig(
      'c.yaml',
      () => 'models:\n  default: { provider: scripted, script: demo.yaml }\nconstraints:\n  max_iterations: 5\n',
    );
    expect(config.models['default']).toEqual({ provider: 'scripted', model: 'demo', script: 'demo.yaml' });
    expect(config.constraints.max_iterations).toBe(5);
    expect(config.agents['default']?.model).toBe('default');
  });

  it('names file, line and field of a wrong value', () => {
    const problem = problemOf('target: aws\nhands:\n  concurrency:\n    global: many\n');
    expect(problem).toMatchObject({ field: 'hands.concurrency.global', line: 4 });
    expect(problem.message).toMatch(/^handrail\.config\.yaml:4: hands\.concurrency\.global: /);
  });

  it('names the line of a setting that does not exist', () => {
    const problem = problemOf('target: aws\n\napprovals:\n  ttl: 5\n');
    expect(problem).toMatchObject({ field: 'approvals.ttl', line: 4 });
  });

  it('names the line of the entry when a required setting is missing in it', () => {
    const problem = problemOf('models:\n  other: { provider: scripted, script: a.yaml }\n  default:\n    provider: scripted\n');
    expect(problem).toMatchObject({ field: 'models.default.script', line: 3 });
  });

  it('stops at a rule that could match no tool, and at a condition that is no JSON Schema, in every place rules stand', () => {
    const guard = (rules: string) => `constraints:\n  guard:\n    tool_policy:\n${rules}`;
    expect(problemOf(guard('      web_*: deny\n      Write-File: deny\n')).message).toMatch(
      /^handrail\.config\.yaml:5: constraints\.guard\.tool_policy\.Write-File: not the name of a tool or a glob/,
    );
    const misspelt = problemOf(guard('      write_file:\n        policy: deny\n        when: { typ: object }\n'));
    expect(misspelt).toMatchObject({ field: 'constraints.guard.tool_policy.write_file.when', line: 6 });
    expect(misspelt.message).toContain('unknown keyword: "typ"');
    expect(
      problemOf(
        'agents:\n  default:\n    constraints:\n      guard:\n        tool_policy:\n          a:\n            - deny\n            - policy: deny\n              when: { properties: { path: { pattern: "(" } } }\n',
      ),
    ).toMatchObject({ field: 'agents.default.constraints.guard.tool_policy.a.1.when', line: 9 });
  });

  it('stops at a budget in USD for a model without a price', () => {
    const model = 'models:\n  default: { provider: anthropic, model: claude }\n';
    const budget = 'constraints:\n  guard:\n    budget:\n      cost_usd: 2\n';
    expect(problemOf(model + budget)).toMatchObject({ field: 'constraints.guard.budget.cost_usd', line: 6 });
    const agents = 'agents:\n  cheap:\n    constraints: { guard: { budget: { cost_usd: 1 } } }\n';
    expect(problemOf(model + agents)).toMatchObject({ field: 'agents.cheap.constraints.guard.budget.cost_usd' });
    expect(
      parseConfig(`${model}${budget}prices: { anthropic/claude: { input: 3, output: 15 } }\n`, 'c.yaml').constraints.guard?.budget,
    ).toEqual({
      cost_usd: 2,
    });
  });

  it('names the line of a list item', () => {
    const problem = problemOf('agents:\n  default:\n    tools:\n      - read_file\n      - 7\n');
    expect(problem).toMatchObject({ field: 'agents.default.tools.1', line: 5 });
  });

  it('lists every problem at once', () => {
    expect(problemOf('target: moon\nmodel: x\n').message.split('\n')).toHaveLength(2);
  });

  it('refuses an agent whose model is not there', () => {
    const problem = problemOf('models:\n  small: { provider: scripted, script: a.yaml }\nagents:\n  default:\n    model: large\n');
    expect(problem).toMatchObject({ field: 'agents.default.model', line: 5 });
    expect(problem.message).toContain('small');
  });

  it.each([
    ['broken syntax', 'target: aws\nhands: [\n'],
    ['a key twice', 'target: aws\ntarget: emulator\n'],
    ['an unknown tag', 'target: !!js/function "x"\n'],
    ['a tab as indentation', 'hands:\n\tconcurrency: {}\n'],
    ['an alias', 'a: &a 1\nb: *a\n'],
    ['a list at the top', '- target\n'],
    ['text at the top', 'aws\n'],
  ])('refuses %s with file and line', (_name, text) => {
    expect(problemOf(text).message).toMatch(/^handrail\.config\.yaml:\d+: /);
  });
});
