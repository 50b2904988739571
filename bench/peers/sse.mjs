// Reads an event stream over HTTP: calls `data` with each payload as it comes.
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true });

export function postForEvents(url, { token, body, data }) {
  return new Promise((resolve, reject) => {
    const payload = JSON.stringify(body);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(payload),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        for (const line of lines) if (line.startsWith('data: ')) data(line.slice(6));
      });
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${url}: ${response.statusCode} ${rest}`));
      });
    });
    request.on('error', reject).end(payload);
  });
}
