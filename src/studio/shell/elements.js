// SPDX-License-Identifier: Apache-2.0
// The elements of Studio's package: loading them, and making the one that a route shows.
import { editorOf, viewerOf } from './routes.js';

// In this order.
const scripts = [
  '_content/BlazorMonaco/jsInterop.js',
  '_content/BlazorMonaco/lib/monaco-editor/min/vs/loader.js',
  '_content/BlazorMonaco/lib/monaco-editor/min/vs/editor/editor.main.js',
  '_content/MudBlazor/MudBlazor.min.js',
  '_content/CodeBeam.MudBlazor.Extensions/MudExtensions.min.js',
  '_content/Radzen.Blazor/Radzen.Blazor.js',
  '_framework/blazor.webassembly.js',
];

const elements = {
  definitions: { tag: 'elsa-workflow-definition-list' },
  editor: { tag: 'elsa-workflow-definition-editor', id: 'definition-id' },
  instances: { tag: 'elsa-workflow-instance-list' },
  viewer: { tag: 'elsa-workflow-instance-viewer', id: 'instance-id' },
};

export function load() {
  return Promise.all(scripts.map(src => new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = src;
    script.async = false;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`'${src}' cannot be loaded.`));
    document.head.append(script);
  })));
}

// Callbacks are properties, which exist only once the element is defined.
export async function make(route) {
  const { tag, id } = elements[route.view];
  await customElements.whenDefined(tag);
  const element = document.createElement(tag);
  element.setAttribute('remote-endpoint', location.origin + '/elsa/api');
  if (id) element.setAttribute(id, route.id);
  if (route.view !== 'instances') element.editWorkflowDefinition = target => location.assign(editorOf(target));
  if (route.view === 'instances') element.viewWorkflowInstance = target => location.assign(viewerOf(target));
  return element;
}
