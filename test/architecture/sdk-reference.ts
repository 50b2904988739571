import ts from 'typescript';
import { exportedDeclarations, type Declaration } from './declarations.js';

const HEAD = `# Reference

Generated from the sources by \`npx vitest run test/architecture/extending-documents.spec.ts -u\`: what \`lmsp-service\` and
\`lmsp-service/testing\` export, by name. Nothing else of the package can be imported. Private members are left out.
`;

const ENTRIES = [
  ['lmsp-service', 'src/index.ts'],
  ['lmsp-service/testing', 'src/testing/index.ts'],
] as const;

/** docs/extending/reference.md */
export function renderReference(): string {
  return [HEAD, ...ENTRIES.map(([name, path]) => renderEntry(name, path))].join('\n');
}

function renderEntry(name: string, path: string): string {
  const all = [...exportedDeclarations(path)].sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const parts = all.map(([each, declaration]) => `### ${each}\n\n\`\`\`ts\n${shown(declaration)}\n\`\`\`\n`);
  return [`## ${name}\n`, ...parts].join('\n');
}

function shown({ file, node }: Declaration): string {
  const comment = commentOf(file, node, 0);
  if (ts.isClassDeclaration(node)) return `${comment}${shownClass(file, node)}`;
  if (ts.isFunctionDeclaration(node)) return `${comment}${withoutBody(file, node)}`;
  if (ts.isVariableStatement(node)) return `${comment}${shownVariable(file, node)}`;
  return `${comment}${bare(node.getText(file))}`;
}

function shownClass(file: ts.SourceFile, node: ts.ClassDeclaration): string {
  const members = node.members
    .filter((member) => isPublished(member))
    .map((member) => `${commentOf(file, member, 2)}  ${withoutBody(file, member)}`);
  const [start, end] = [(node.modifiers?.find(ts.isModifier) ?? node).getStart(file), node.members.pos];
  const head = bare(file.text.slice(start, end).trim());
  return members.length === 0 ? `${head}}` : `${head}\n${members.join('\n')}\n}`;
}

/** What injection gives a class is its own business. */
function isPublished(member: ts.ClassElement): boolean {
  if (ts.isConstructorDeclaration(member)) return !member.parameters.some(({ modifiers }) => modifiers !== undefined);
  const flags = ts.getCombinedModifierFlags(member);
  if ((flags & ts.ModifierFlags.Private) !== 0) return false;
  return !(ts.isPropertyDeclaration(member) && member.initializer !== undefined && member.type === undefined);
}

function withoutBody(file: ts.SourceFile, node: ts.Node): string {
  const { body, initializer } = node as { body?: ts.Node; initializer?: ts.Node };
  const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
  const start = (modifiers?.find(({ kind }) => kind !== ts.SyntaxKind.AsyncKeyword) ?? firstToken(node)).getStart(file);
  const end = (body ?? initializer)?.getFullStart() ?? node.end;
  const text = bare(
    file.text
      .slice(start, end)
      .replace(/\s*=\s*$/, '')
      .trim(),
  );
  const plain = text.replace(/^((?:export |static )?)async /, '$1');
  return plain.endsWith(';') ? plain : `${plain};`;
}

/** Behind the decorators, and behind `async`, which is how and not what. */
function firstToken(node: ts.Node): ts.Node {
  if (ts.isAccessor(node) || ts.isFunctionDeclaration(node)) return node;
  return (node as { name?: ts.Node }).name ?? node;
}

/** Of a function its head, of a call what is called: the rest is how, not what. */
function shownVariable(file: ts.SourceFile, node: ts.VariableStatement): string {
  const initializer = node.declarationList.declarations[0]?.initializer;
  const end =
    initializer && ts.isArrowFunction(initializer)
      ? initializer.equalsGreaterThanToken.end
      : initializer && ts.isCallExpression(initializer) && initializer.getText(file).includes('\n')
        ? initializer.expression.end
        : null;
  return bare(end === null ? node.getText(file) : `${file.text.slice(node.getStart(file), end)} …`);
}

function bare(text: string): string {
  return text.replace(/^export /, '').replaceAll(/^ *\/\/.*\n/gm, '');
}

function commentOf(file: ts.SourceFile, node: ts.Node, indent: number): string {
  const comment = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc);
  return comment ? `${' '.repeat(indent)}${comment.getText(file)}\n` : '';
}
