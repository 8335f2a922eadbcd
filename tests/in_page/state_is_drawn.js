// Whether this state is drawn, and under this tab where one is named.
([state, look]) => { const d = document.querySelector('.flatviz').dataset;
      return d.state === state && (look === null || d.look === look); }
